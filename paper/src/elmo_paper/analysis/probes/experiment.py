"""The paper's table 6 on one's own treebank: each layer of each encoder, beside what needs no vectors."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from elmo.embed.encoder import Encoder, token_layers
from elmo.process.progress.report import Count, Progress, following
from elmo.static.vectors import require_known_words
from elmo.tasks.columns import TaggedSentence
from elmo.tasks.pos.data import TokenTaggerSettings, read_tagged
from elmo_paper.analysis.encoders import layer_name
from elmo_paper.analysis.measures import between
from elmo_paper.analysis.probes.controls import ambiguous, control_tags, majority_tags, unseen
from elmo_paper.analysis.probes.linear_probe import STRENGTHS, Split, fit
from elmo_paper.analysis.probes.online_code import OnlineCode, online_code

DRAWS = 2000


@dataclass(frozen=True)
class ProbeRow:
    """A row of the table; accuracies in percent."""

    encoder: str
    """Empty for what needs no vectors."""
    layer: str
    accuracy: float
    interval: tuple[float, float]
    """95 %, over test sentences."""
    unseen: float | None
    """On words that training doesn't have; None if the test file has no such word."""
    ambiguous: float | None
    """On words with two tags or more in training; None if the test file has no such word."""
    name_f1: float | None = None
    """F1 of the tokens with a tag other than O, as tags of names have it; None if no token has the tag O."""
    over_layer_below: tuple[float, float, float] | None = None
    """Accuracy minus that of the row before, and the difference's 95 % interval; None for an encoder's first row."""
    control: float | None = None
    """On the control task, where each word has one random tag; None if it wasn't run."""
    code: OnlineCode | None = None
    """Online code length of the training file's tags; None if it wasn't computed."""
    strength: float | None = None
    dev_accuracy: float | None = None

    @property
    def selectivity(self) -> float | None:
        """Accuracy minus that of the control task."""
        return None if self.control is None else self.accuracy - self.control

    def record(self) -> dict[str, object]:
        """As plain values for JSON."""
        compression = None if self.code is None else self.code.compression
        return {**asdict(self), "selectivity": self.selectivity, "compression": compression}


class Judge:
    """Compares predictions with the test file's tags."""

    def __init__(self, train: Sequence[TaggedSentence], test: Sequence[TaggedSentence]) -> None:
        self._gold = np.array([tag for sentence in test for tag in sentence.tags])
        self._unseen, self._ambiguous = unseen(train, test), ambiguous(train, test)
        self._lengths = np.array([len(sentence.tokens) for sentence in test])

    def shares(self) -> tuple[float, float]:
        """Percent of the test tokens that are unseen, and ambiguous."""
        return percent(self._unseen), percent(self._ambiguous)

    def row(
        self,
        encoder: str,
        layer: str,
        predicted: Sequence[str],
        below: Sequence[str] | None = None,
        **measured: Any,
    ) -> ProbeRow:
        """The row of one layer. `below`: what was predicted from the layer before; `measured`: the row's other
        fields."""
        right = np.array(predicted) == self._gold
        return ProbeRow(
            encoder,
            layer,
            percent(right),
            self._interval(right, 0.0),
            unseen=percent(right[self._unseen]) if self._unseen.any() else None,
            ambiguous=percent(right[self._ambiguous]) if self._ambiguous.any() else None,
            name_f1=name_f1(np.array(predicted), self._gold),
            over_layer_below=self._over(right, below),
            **measured,
        )

    def _over(
        self, right: Bool[np.ndarray, " tokens"], others: Sequence[str] | None
    ) -> tuple[float, float, float] | None:
        """What is added to other predictions, and its interval; None without them."""
        if others is None:
            return None
        gain = right.astype(np.int64) - (np.array(others) == self._gold)
        return percent(gain), *self._interval(gain, -100.0)

    def _interval(self, values: Shaped[np.ndarray, " tokens"], least: float) -> tuple[float, float]:
        """Sentences are drawn with replacement: the words of one aren't independent of each other, and one sentence
        says no more than that the mean is between `least` and 100."""
        if len(self._lengths) < 2:
            return least, 100.0
        starts = np.concatenate([[0], np.cumsum(self._lengths)[:-1]])
        sums = np.add.reduceat(values.astype(np.int64), starts)
        drawn = np.random.default_rng(0).integers(len(sums), size=(DRAWS, len(sums)))
        shares = 100 * sums[drawn].sum(axis=1) / self._lengths[drawn].sum(axis=1)
        return between(shares)


def name_f1(predicted: Shaped[np.ndarray, " tokens"], gold: Shaped[np.ndarray, " tokens"]) -> float | None:
    """In percent; a token is right if it has its own tag and that isn't O."""
    outside = gold == "O"
    if not outside.any():
        return None
    marked = int((predicted != "O").sum() + (~outside).sum())
    return 200 * int(((predicted == gold) & ~outside).sum()) / max(marked, 1)


def percent(values: Shaped[np.ndarray, " values"]) -> float:
    """The mean in percent."""
    return 100 * float(values.mean())


MAJORITY = "most frequent tag of the word"
CONTROL_SEED = 0


@dataclass(frozen=True)
class Treebanks:
    """Training, development and test file."""

    train: Path
    dev: Path
    test: Path


@dataclass(frozen=True)
class Measures:
    """What is measured of each layer beside its accuracy."""

    control: bool = True
    """Accuracy on the control task."""
    code: bool = True
    """Online code length."""
    strengths: Sequence[float] = STRENGTHS


EVERYTHING = Measures()


@dataclass(frozen=True)
class ProbeTable:
    """All rows, and what the treebanks hold."""

    rows: tuple[ProbeRow, ...]
    tokens: tuple[int, int, int]
    """Of training, development and test file."""
    num_tags: int
    unseen: float
    """Percent of the test tokens whose word training doesn't have; the others are the most a control task can reach."""
    ambiguous: float
    """Percent of the test tokens whose word has two tags or more in training."""

    def record(self) -> dict[str, object]:
        """As plain values for JSON."""
        facts = {"tokens": self.tokens, "num_tags": self.num_tags, "unseen": self.unseen, "ambiguous": self.ambiguous}
        return {**facts, "rows": [row.record() for row in self.rows]}


def probe_table(
    files: Treebanks,
    encoders: Mapping[str, Encoder],
    *,
    column: str = "xpos",
    measures: Measures = EVERYTHING,
    progress: Progress | bool = False,
) -> ProbeTable:
    """Probes every layer. The first row answers with each word's most frequent tag.

    All layers of one encoder are held in memory: 4 bytes x tokens x layers x dimensions. `progress`: receives the
    sentences that are embedded with each encoder, and the layers that are probed; True: bars on stderr. Raises
    what `read_tagged` does, and TextError for static vectors that have none of the words.
    """
    settings = TokenTaggerSettings(tag_column=column)
    splits = [read_tagged(path, settings) for path in (files.train, files.dev, files.test)]
    require_known_words(encoders.values(), (word for split in splits for sentence in split for word in sentence.tokens))
    judge = Judge(splits[0], splits[2])
    rows = [judge.row("", MAJORITY, majority_tags(splits[0], splits[2]))]
    with following(progress) as reported:
        for name, encoder in encoders.items():
            embedded = Count(reported, f"{name}: embedding", sum(map(len, splits)), "sentences")
            vectors = [_vectors(encoder, split, embedded) for split in splits]
            below = None
            probed_layers = Count(reported, f"{name}: probing", encoder.num_layers, "layers")
            for layer in probed_layers.each(range(encoder.num_layers)):
                predicted, measured = _probed([split[layer] for split in vectors], splits, measures)
                rows.append(judge.row(name, layer_name(encoder, layer), predicted, below, **measured))
                below = predicted
    train, dev, test = (sum(len(one.tokens) for one in split) for split in splits)
    return ProbeTable(tuple(rows), (train, dev, test), len(_numbered(splits)[0]), *judge.shares())


def _probed(
    layers: Sequence[Float[np.ndarray, "tokens dim"]],
    splits: Sequence[Sequence[TaggedSentence]],
    measures: Measures,
) -> tuple[list[str], dict[str, Any]]:
    """The tags that a probe of one layer predicts for the test tokens, and the other fields of its row."""
    tags, numbers = _numbered(splits)
    train, dev, _ = map(Split, layers, numbers)
    probe = fit(train, dev, measures.strengths)
    code = None
    if measures.code:
        lengths = np.array([len(one.tokens) for one in splits[0]])
        code = online_code(train, lengths, num_tags=len(np.unique(train.tags)), strengths=measures.strengths)
    control = _control(layers, splits, probe.strength) if measures.control else None
    measured = {"control": control, "code": code, "strength": probe.strength, "dev_accuracy": probe.dev_accuracy}
    return [tags[number] for number in probe.predict(layers[2])], measured


def _control(
    layers: Sequence[Float[np.ndarray, "tokens dim"]], splits: Sequence[Sequence[TaggedSentence]], strength: float
) -> float | None:
    """Accuracy on random tags of a probe with the same penalty; None if so few words got equal ones."""
    _, random = _numbered(control_tags(splits, CONTROL_SEED))
    train, dev, test = map(Split, layers, random)
    if len(np.unique(train.tags)) < 2:
        return None
    return percent(fit(train, dev, [strength]).predict(test.vectors) == test.tags)


def _vectors(
    encoder: Encoder, sentences: Sequence[TaggedSentence], embedded: Count
) -> Float[np.ndarray, "layers tokens dim"]:
    """Of all sentences, as float32; they are counted in `embedded`."""
    size = (encoder.num_layers, sum(len(one.tokens) for one in sentences), encoder.layer_dim)
    found, start = np.empty(size, dtype=np.float32), 0
    for layers in embedded.each(token_layers(encoder, (one.tokens for one in sentences))):
        found[:, start : start + layers.shape[1]] = layers
        start += layers.shape[1]
    return found


def _numbered(splits: Sequence[Sequence[TaggedSentence]]) -> tuple[list[str], list[Int[np.ndarray, " tokens"]]]:
    tags = sorted({tag for split in splits for sentence in split for tag in sentence.tags})
    number = {tag: place for place, tag in enumerate(tags)}
    return tags, [np.array([number[tag] for one in split for tag in one.tags], dtype=np.int64) for split in splits]
