"""Precision at k: of the k nearest occurrences of a word in other documents, how many have its sense?

The paper's table 4 shows two queries; this counts over thousands. All candidates are written like the query, so that a
layer that sees the word alone can't do better than chance: what is above chance was read from the sentence. Occurrences
in the query's own document are left out: one document mostly uses a word in one sense, and repeats itself.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import get_args

import numpy as np
from jaxtyping import Bool, Float, Int

from elmo.analysis.neighbors.context_index import unit
from elmo.embed.encoder import Encoder, token_layers
from elmo.errors import TextError
from elmo.process.progress.report import Count, Progress, following
from elmo.static.vectors import require_known_words
from elmo_paper.analysis.encoders import layer_name
from elmo_paper.analysis.measures import Measured, mean_and_interval, votes
from elmo_paper.analysis.occurrences import LIMITS, Criterion, Occurrence, PrecisionLimits, by_form

DEPTHS = (1, 5, 10)
CHANCE = "chance"

_ByWord = dict[Criterion, dict[int, Float[np.ndarray, " words"]]]
"""Criterion -> k -> percent."""


@dataclass(frozen=True)
class PrecisionRow:
    """A layer's precision in percent: question -> k -> mean over words."""

    encoder: str
    """Empty for chance."""
    layer: str
    precision: Mapping[Criterion, Mapping[int, Measured]]
    over_layer_below: Mapping[Criterion, Mapping[int, Measured]] | None = None
    """What is added to the row before, by word; None for an encoder's first row."""

    def record(self) -> dict[str, object]:
        """As plain values for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Queries:
    """The queries among the occurrences of one form."""

    places: Int[np.ndarray, " queries"]
    """Which occurrence each one is."""
    candidates: Bool[np.ndarray, "queries occurrences"]
    right: Bool[np.ndarray, "queries occurrences"]
    """Candidates that agree with the query."""


@dataclass(frozen=True)
class PrecisionTable:
    """All rows; the first is chance."""

    rows: tuple[PrecisionRow, ...]
    num_words: Mapping[Criterion, int]
    num_queries: Mapping[Criterion, int]

    def record(self) -> dict[str, object]:
        """As plain values for JSON."""
        counts = {"words": self.num_words, "queries": self.num_queries}
        return {**counts, "rows": [row.record() for row in self.rows]}


def precision_table(
    sentences: Callable[[], Iterable[Sequence[str]]],
    occurrences: Iterable[Occurrence],
    encoders: Mapping[str, Encoder],
    limits: PrecisionLimits = LIMITS,
    *,
    progress: Progress | bool = False,
) -> PrecisionTable:
    """Asks both questions of every layer. `sentences()`: the tokens of the corpus from its beginning.

    The vectors of one encoder are held in memory as float16. `progress`: receives the sentences that are embedded with
    each encoder; True: bars on stderr. Raises TextError without words of several senses, without any query, and for
    static vectors that have no word of the corpus.
    """
    forms = by_form(occurrences, limits)
    require_known_words(encoders.values(), (word for sentence in sentences() for word in sentence))
    questions = {question: [_queries(form, question, limits) for form in forms] for question in get_args(Criterion)}
    _require_queries(questions, limits)
    chance = _by_word(questions, lambda place, asked: {k: _chance(asked) for k in DEPTHS})
    rows = [PrecisionRow("", CHANCE, _means(chance))]
    with following(progress) as reported:
        for name, encoder in encoders.items():
            vectors = _vectors(name, forms, sentences(), encoder, reported)
            rows += _rows(name, encoder, vectors, questions)
    return PrecisionTable(
        tuple(rows),
        {question: sum(len(one.places) > 0 for one in found) for question, found in questions.items()},
        {question: sum(len(one.places) for one in found) for question, found in questions.items()},
    )


def precision_at(
    cosines: Float[np.ndarray, "queries candidates"], right: Bool[np.ndarray, "queries candidates"], k: int
) -> Float[np.ndarray, " queries"]:
    """The share of right ones among the `k` candidates of highest cosine; -inf: no candidate. Of equal cosines at the
    end of the list, the expected share."""
    return (votes(cosines, k) * right).sum(axis=1) / k


def _queries(form: Sequence[Occurrence], question: Criterion, limits: PrecisionLimits) -> Queries:
    """Those with enough candidates, some of which agree and some don't: of all others the answer is settled."""
    groups, documents = (_numbers(values) for values in ([a.group(question) for a in form], [a.document for a in form]))
    others = (groups[:, None] == groups) & (documents[:, None] != documents)
    agreeing = _agreeing(form, question) & others
    counts, right = others.sum(axis=1), agreeing.sum(axis=1)
    possible = np.flatnonzero((counts >= _least(limits)) & (right > 0) & (right < counts))
    chosen = np.sort(np.random.default_rng(limits.seed).permutation(possible)[: limits.queries])
    return Queries(chosen, others[chosen], agreeing[chosen])


def _least(limits: PrecisionLimits) -> int:
    """Occurrences in other documents that a query needs."""
    return max(limits.least_candidates, *DEPTHS)


def _require_queries(questions: Mapping[Criterion, Sequence[Queries]], limits: PrecisionLimits) -> None:
    if any(len(one.places) for found in questions.values() for one in found):
        return
    least = _least(limits)
    forms = len(next(iter(questions.values())))
    if limits.occurrences <= least:
        cause = f"at most {limits.occurrences} occurrences of a word form are compared"
        step = f"Raise occurrences above {least}"
    else:
        cause = f"too few of the {forms:,} word forms with several senses are in enough documents"
        step = "Name a larger corpus, or one of more documents"
    raise TextError(
        f"there are no queries: one needs {least} occurrences of its word form in other documents, some of which agree "
        f"with it and some don't, but {cause}. {step}."
    )


def _agreeing(form: Sequence[Occurrence], question: Criterion) -> Bool[np.ndarray, "occurrences occurrences"]:
    """Whether two occurrences have the same part of speech, or a sense in common."""
    if question == "part of speech":
        parts = _numbers([one.pos for one in form])
        return parts[:, None] == parts
    columns = {sense: column for column, sense in enumerate({sense for one in form for sense in one.senses})}
    has = np.zeros((len(form), len(columns)), dtype=np.float32)
    for row, one in enumerate(form):
        has[row, [columns[sense] for sense in one.senses]] = 1
    return has @ has.T > 0


def _numbers(values: Sequence[object]) -> Int[np.ndarray, " values"]:
    """Equal numbers for equal values."""
    first: dict[object, int] = {}
    return np.array([first.setdefault(value, len(first)) for value in values])


def _chance(asked: Queries) -> Float[np.ndarray, " queries"]:
    return asked.right.sum(axis=1) / asked.candidates.sum(axis=1)


def _of(units: Float[np.ndarray, "occurrences dim"], asked: Queries) -> dict[int, Float[np.ndarray, " queries"]]:
    cosines = np.where(asked.candidates, units[asked.places] @ units.T, -np.inf)
    return {k: precision_at(cosines, asked.right, k) for k in DEPTHS}


def _by_word(
    questions: Mapping[Criterion, Sequence[Queries]],
    measure: Callable[[int, Queries], Mapping[int, Float[np.ndarray, " queries"]]],
) -> _ByWord:
    """The mean over each word's queries."""
    found: _ByWord = {}
    for question, asked in questions.items():
        measured = [measure(place, one) for place, one in enumerate(asked) if len(one.places)]
        if measured:
            found[question] = {k: 100 * np.array([one[k].mean() for one in measured]) for k in DEPTHS}
    return found


def _difference(found: _ByWord, below: _ByWord) -> _ByWord:
    return {question: {k: values - below[question][k] for k, values in of.items()} for question, of in found.items()}


def _means(found: _ByWord, least: float = 0.0) -> dict[Criterion, dict[int, Measured]]:
    """The mean over words: a frequent one counts as much as a rare one. `least`: what it can be."""
    return {
        question: {k: mean_and_interval(values, least, 100.0) for k, values in of.items()}
        for question, of in found.items()
    }


def _rows(
    name: str,
    encoder: Encoder,
    vectors: Sequence[Float[np.ndarray, "occurrences layers dim"]],
    questions: Mapping[Criterion, Sequence[Queries]],
) -> Iterator[PrecisionRow]:
    """Of each layer of an encoder; `vectors`: as `_vectors` gives them."""
    below: _ByWord | None = None
    for layer in range(encoder.num_layers):
        units = [unit(of_form[:, layer].astype(np.float32)) for of_form in vectors]
        found = _by_word(questions, lambda place, asked, units=units: _of(units[place], asked))
        over = None if below is None else _means(_difference(found, below), -100.0)
        yield PrecisionRow(name, layer_name(encoder, layer), _means(found), over)
        below = found


def _vectors(
    name: str,
    forms: Sequence[Sequence[Occurrence]],
    sentences: Iterable[Sequence[str]],
    encoder: Encoder,
    progress: Progress,
) -> list[Float[np.ndarray, "occurrences layers dim"]]:
    """Of each form; an expression of several words has the mean of its tokens. Other sentences are not embedded."""
    found = [np.empty((len(form), encoder.num_layers, encoder.layer_dim), dtype=np.float16) for form in forms]
    places = sorted((one.sentence, f, p) for f, form in enumerate(forms) for p, one in enumerate(form))
    wanted = [(number, list(group)) for number, group in groupby(places, key=lambda it: it[0])]
    embedded = token_layers(encoder, _at(sentences, [number for number, _ in wanted]))
    done = Count(progress, f"{name}: embedding", len(wanted), "sentences")
    for (_, group), layers in done.each(zip(wanted, embedded, strict=True)):
        for _, f, p in group:
            one = forms[f][p]
            # Scaled to length 1 first: half precision has no room for long vectors.
            found[f][p] = unit(layers[:, one.start : one.end].mean(axis=1))
    return found


def _at(sentences: Iterable[Sequence[str]], numbers: Sequence[int]) -> Iterator[Sequence[str]]:
    wanted = set(numbers)
    return (sentence for number, sentence in enumerate(sentences) if number in wanted)
