"""Perplexity: how well each direction predicts held-out text. Exact: full softmax, every token counts once.

The forward language model predicts w1..wn, </S> and the backward one wn..w1, <S>. A token that the vocabulary doesn't
list counts as its longest listed beginning or as <UNK>; `sums.py` adds them up apart. No dropout. Nothing is left
out at the end. The mean is over nats per token of both directions, so its perplexity is the geometric mean of the two.

state "zero": every sentence starts from a zero state, so its score depends on nothing else.
state "carry": the text is cut into `rows` contiguous parts, and within a part the state is carried from sentence to
sentence: the forward language model reads a part from its beginning, the backward one from its end.

A sentence's log-probability in a direction is the sum of ln p over its predictions: the forward language model's
probabilities multiply to p(w1, ..., wn, </S>), the backward one's to p(wn, ..., w1, <S>).

`runs/quality/bilm_tf_perplexity.py` reproduces bilm-tf's own figures, which differ. Source: paper section 3.1;
docs/specification.md, 6.7.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from elmo.errors import TextError
from elmo.lm.carried import carried_nats
from elmo.lm.language_model import LanguageModel, Poll
from elmo.lm.sums import KINDS, Kind, Perplexity, Sums
from elmo.process.progress.report import SILENT, Count, Progress, following
from elmo.setting_checks import PositiveInt, require_value
from elmo.shapes import Float, Int
from elmo.text.batches import bucket, number_tokens, pad
from elmo.text.vocabulary import TargetIds

EvaluationState = Literal["zero", "carry"]

# Sentences that are scored together; few at first, so that a person soon sees progress and how long it will take.
_FIRST_WINDOW, _WINDOW = 128, 2048
_BATCH_TOKENS = 4096  # padding included


@dataclass(frozen=True)
class SentenceScore:
    """Nats of each prediction of a sentence."""

    sentence: Sequence[str]
    nats: dict[str, Float[np.ndarray, " predictions"]]
    """Per direction (tokens + 1,) float32 in its reading order; the last one is that of the boundary."""
    kinds: Int[np.ndarray, " tokens"]
    """(tokens,) in the order of the text: what each token's target is, as a place in KINDS."""

    @property
    def unknown(self) -> list[int]:
        """Places, from 0, of the tokens whose target is `<UNK>`."""
        return np.flatnonzero(self.kinds == KINDS.index("unknown")).tolist()

    @property
    def beginnings(self) -> list[int]:
        """Places, from 0, of the tokens whose target is a beginning of theirs."""
        return np.flatnonzero(self.kinds == KINDS.index("beginning")).tolist()

    def add_to(self, sums: Sums) -> None:
        """Adds this sentence's predictions."""
        in_text_order = {
            direction: nats if direction == "forward" else np.append(nats[-2::-1], nats[-1])
            for direction, nats in self.nats.items()
        }
        sums.add(self.sentence, self.kinds, in_text_order)

    def to_dict(self) -> dict[str, Any]:
        """For programs: each direction's nats of the tokens in the order of the text, and of its boundary."""
        values: dict[str, Any] = {"tokens": list(self.sentence), "unknown": self.unknown}
        if self.beginnings:
            values["beginnings"] = self.beginnings
        for direction, nats in self.nats.items():
            rounded = [round(float(value), 5) for value in nats]
            values[direction] = rounded[:-1] if direction == "forward" else rounded[-2::-1]
            values[f"{direction}_boundary"] = rounded[-1]
        return values


@dataclass(frozen=True)
class SentenceLogProbability:
    """One sentence's score; longer sentences are less probable, so compare lengths with `per_prediction`."""

    log_probability: dict[str, float]
    """Per direction, in nats, at most 0."""
    num_tokens: int
    num_unknown: int
    """Tokens outside the vocabulary: each counts as <UNK>, which is often too probable."""

    @property
    def mean(self) -> float:
        """The mean over the directions, in nats."""
        return sum(self.log_probability.values()) / len(self.log_probability)

    @property
    def per_prediction(self) -> float:
        """`mean` divided by the tokens and the boundary: -ln of the sentence's perplexity."""
        return self.mean / (self.num_tokens + 1)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            **self.log_probability,
            "mean": self.mean,
            "per_prediction": self.per_prediction,
            "tokens": self.num_tokens,
            "unknown": self.num_unknown,
        }


def evaluate(
    model: LanguageModel,
    sentences: Iterable[Sequence[str]],
    *,
    state: EvaluationState = "zero",
    rows: int = 16,
    each: Callable[[SentenceScore], object] = lambda score: None,
    num_sentences: int | None = None,
    progress: Progress | bool = False,
) -> Perplexity:
    """Perplexity of a text; empty sentences are left out. Raises TextError if there is no other.

    `rows`: as for `scores`. `each`: called with each sentence's score, in order. `num_sentences`: those that are not
    empty, if known. `progress`: receives the sentences that are scored and, with state "carry", the tokens that each
    direction reads; True: bars on stderr.
    """
    some = (sentence for sentence in sentences if len(sentence))
    if isinstance(sentences, Sequence):
        num_sentences = sum(1 for sentence in sentences if len(sentence))
    with following(progress) as reported:
        scored = Count(reported, "scoring", num_sentences, "sentences")
        found = scored.each(scores(model, some, state=state, rows=rows, progress=reported))
        perplexity = total(_shown(found, each))
        scored.finish()
    return perplexity


def _shown(found: Iterable[SentenceScore], each: Callable[[SentenceScore], object]) -> Iterator[SentenceScore]:
    for score in found:
        each(score)
        yield score


def total(scored: Iterable[SentenceScore]) -> Perplexity:
    """The perplexity of all sentences together. Raises TextError if there is none."""
    return sums(scored).perplexity()


def sums(scored: Iterable[SentenceScore]) -> Sums:
    """The sums over sentences, to which others can be added. Raises TextError if there is none."""
    found: Sums | None = None
    for score in scored:
        found = found or Sums(list(score.nats))
        score.add_to(found)
    if found is None:
        raise TextError("there is no sentence to evaluate: the text is empty. Pass a text with one sentence per line.")
    return found


def scores(
    model: LanguageModel,
    sentences: Iterable[Sequence[str]],
    *,
    state: EvaluationState = "zero",
    rows: int = 16,
    poll: Poll = lambda: None,
    progress: Progress = SILENT,
) -> Iterator[SentenceScore]:
    """Each sentence's nats, in order.

    state "zero": some 2,000 sentences at a time are sorted by length and batched.
    state "carry": the whole text is held in memory, and read as `rows` contiguous parts, or fewer for a short text.
    `poll` is called every few seconds and may raise to end it. `progress`: with state "carry" it receives the tokens
    that each direction reads, before the first sentence comes.
    Memory: a batch's vectors, and a block of logits (2 MB on a CPU; on a GPU 32 MB, or those of 32 targets).
    """
    require_value("state", state, EvaluationState)
    iterator = iter(sentences)
    if state == "carry":
        yield from _carried_scores(model, list(iterator), rows, poll, progress)
        return
    size = _FIRST_WINDOW
    while some := list(itertools.islice(iterator, size)):
        yield from _score_window(model, some, poll)
        size = min(_WINDOW, 2 * size)


def sentence_scores(model: LanguageModel, sentences: Iterable[Sequence[str]]) -> Iterator[SentenceLogProbability]:
    """One score for each sentence, in order, an empty one included. Every sentence starts from a zero
    state. Memory: some 2,000 sentences at a time."""
    for score in scores(model, sentences):
        nats = {direction: -float(values.sum(dtype="float64")) for direction, values in score.nats.items()}
        yield SentenceLogProbability(nats, len(next(iter(score.nats.values()))) - 1, len(score.unknown))


def _score_window(model: LanguageModel, sentences: list[Sequence[str]], poll: Poll) -> list[SentenceScore]:
    tokens, places = number_tokens(sentences, model.token_map.boundary_tokens)
    table = model.token_vectors(tokens)
    targets = model.targets_of(tokens)
    result: list[SentenceScore | None] = [None] * len(sentences)
    for rows in bucket([len(line) for line in places], _BATCH_TOKENS):
        poll()
        batch = pad(places, rows)
        outputs = model.outputs(table, batch.places, batch.lengths)
        nats = _nats(model, outputs, targets[batch.places], poll)
        for i, row in enumerate(rows):
            length = int(batch.lengths[i])
            by_direction = {"forward": slice(0, length - 1), "backward": slice(1, length)}
            found = {name: nats[name][i, by_direction[name]] for name in nats}
            if "backward" in found:
                found["backward"] = found["backward"][::-1]
            result[row] = SentenceScore(sentences[row], found, _kinds(sentences[row], model.target_ids))
    return [score for score in result if score is not None]


def _carried_scores(
    model: LanguageModel, sentences: list[Sequence[str]], rows: int, poll: Poll, progress: Progress
) -> Iterator[SentenceScore]:
    """In the order of the text."""
    parts = contiguous_parts(sentences, rows)
    nats: dict[str, list[Float[np.ndarray, " some"]]] = {}
    for direction in model.config.directions:
        order = parts if direction == "forward" else [part[::-1] for part in parts]
        read = carried_nats(model, direction, order, poll=poll, progress=progress)
        found: list[Float[np.ndarray, " some"]] = []
        for numbers, part in zip(read, order, strict=True):
            split = np.split(numbers, np.cumsum([len(sentence) + 1 for sentence in part])[:-1])
            found += split if direction == "forward" else split[::-1]
        nats[direction] = found
    for index, sentence in enumerate(sentences):
        yield SentenceScore(sentence, {name: nats[name][index] for name in nats}, _kinds(sentence, model.target_ids))


def contiguous_parts(sentences: Sequence[Sequence[str]], rows: int) -> list[list[Sequence[str]]]:
    """The text cut into at most `rows` parts of about the same number of tokens; sentences stay whole."""
    require_value("batch_size", rows, PositiveInt)
    ends = np.cumsum([len(sentence) + 1 for sentence in sentences])
    cuts = np.searchsorted(ends, np.arange(1, rows) * (ends[-1] / rows)) + 1 if len(ends) else []
    bounds = sorted({0, len(sentences), *(int(cut) for cut in cuts)})
    return [list(sentences[start:end]) for start, end in itertools.pairwise(bounds)]


def _kinds(sentence: Sequence[str], ids: TargetIds) -> Int[np.ndarray, " tokens"]:
    return np.fromiter((KINDS.index(_kind(token, ids)) for token in sentence), np.int8, len(sentence))


def _kind(token: str, ids: TargetIds) -> Kind:
    if ids.id(token) == ids.unknown:  # also where the text itself says <UNK>
        return "unknown"
    return "listed" if token in ids else "beginning"


def _nats(
    model: LanguageModel, outputs: dict[str, Any], targets: Int[np.ndarray, "batch tokens"], poll: Poll
) -> dict[str, Float[np.ndarray, "batch tokens"]]:
    """Per direction at position t the loss of the next token in reading order."""
    to_next = {"forward": -1, "backward": 1}
    return {
        direction: model.nats(output, np.roll(targets, to_next[direction], axis=1), poll)
        for direction, output in outputs.items()
    }
