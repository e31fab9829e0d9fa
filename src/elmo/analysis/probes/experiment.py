"""The paper's table 6 on one's own treebank: each layer of each encoder, beside what needs no vectors."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from elmo.analysis.encoders import layer_name, token_layers
from elmo.analysis.probes.controls import ambiguous, control_tags, majority_tags, unseen
from elmo.analysis.probes.linear_probe import STRENGTHS, Split, probe
from elmo.analysis.probes.treebank import TagColumn, TaggedSentence, read_treebank
from elmo.embed.encoder import Encoder
from elmo.errors import TextError

MAJORITY = "most frequent tag of the word"
DRAWS = 2000

OnStep = Callable[[str], None]
"""Called with what is done next."""


@dataclass(frozen=True)
class Treebanks:
    """Training, development and test file."""

    train: Path
    dev: Path
    test: Path


@dataclass(frozen=True)
class ProbeRow:
    """A row of the table; accuracies in percent."""

    name: str
    accuracy: float
    interval: tuple[float, float]
    """95 %, over test sentences."""
    unseen: float
    """On words that training doesn't have."""
    ambiguous: float
    """On words with two tags or more in training."""
    control: float | None = None
    """On the control task, where each word has one random tag; None for what wasn't asked."""
    strength: float | None = None
    dev_accuracy: float | None = None

    @property
    def selectivity(self) -> float | None:
        """Accuracy minus that of the control task."""
        return None if self.control is None else self.accuracy - self.control


def probe_table(
    files: Treebanks,
    encoders: Mapping[str, Encoder],
    *,
    column: TagColumn = "xpos",
    control: bool = True,
    strengths: Sequence[float] = STRENGTHS,
    on_step: OnStep = lambda _: None,
) -> list[ProbeRow]:
    """Probes every layer. The first row answers with each word's most frequent tag.

    All layers of one encoder are held in memory: 4 bytes x tokens x layers x dimensions.
    """
    splits = [read_treebank(path, column) for path in (files.train, files.dev, files.test)]
    judge = _Judge(splits[0], splits[2])
    rows = [judge.row(MAJORITY, majority_tags(splits[0], splits[2]))]
    for name, encoder in encoders.items():
        on_step(f"{name}: vectors")
        vectors = [_vectors(encoder, split) for split in splits]
        for layer in range(encoder.num_layers):
            row = name if encoder.num_layers == 1 else f"{name}, {layer_name(encoder, layer)}"
            on_step(f"{row}: probe")
            layers = [split[layer] for split in vectors]
            rows.append(_probed(row, layers, splits, judge, control, strengths))
    return rows


def _probed(
    name: str,
    layers: Sequence[np.ndarray],
    splits: Sequence[Sequence[TaggedSentence]],
    judge: "_Judge",
    control: bool,
    strengths: Sequence[float],
) -> ProbeRow:
    tags, numbered = _numbered(splits)
    train, dev, test = map(Split, layers, numbered)
    found = probe(train, dev, test, strengths)
    control_accuracy = None
    if control:
        _, random = _numbered(control_tags(splits))
        train, dev, test = map(Split, layers, random)
        learned = probe(train, dev, test, [found.strength])
        control_accuracy = 100 * float((learned.predictions == random[2]).mean())
    predicted = [tags[place] for place in found.predictions]
    return judge.row(
        name, predicted, control=control_accuracy, strength=found.strength, dev_accuracy=found.dev_accuracy
    )


class _Judge:
    """Compares predictions with the test file's tags."""

    def __init__(self, train: Sequence[TaggedSentence], test: Sequence[TaggedSentence]) -> None:
        self._gold = np.array([tag for sentence in test for tag in sentence.tags])
        self._unseen, self._ambiguous = unseen(train, test), ambiguous(train, test)
        self._lengths = np.array([len(sentence.tokens) for sentence in test])

    def row(
        self,
        name: str,
        predicted: Sequence[str],
        *,
        control: float | None = None,
        strength: float | None = None,
        dev_accuracy: float | None = None,
    ) -> ProbeRow:
        right = np.array(predicted) == self._gold
        return ProbeRow(
            name,
            _percent(right),
            self._interval(right),
            unseen=_percent(right[self._unseen]),
            ambiguous=_percent(right[self._ambiguous]),
            control=control,
            strength=strength,
            dev_accuracy=dev_accuracy,
        )

    def _interval(self, right: np.ndarray) -> tuple[float, float]:
        """Sentences are drawn with replacement: the words of one aren't independent of each other."""
        starts = np.concatenate([[0], np.cumsum(self._lengths)[:-1]])
        correct = np.add.reduceat(right.astype(np.int64), starts)
        drawn = np.random.default_rng(0).integers(len(correct), size=(DRAWS, len(correct)))
        shares = 100 * correct[drawn].sum(axis=1) / self._lengths[drawn].sum(axis=1)
        low, high = np.percentile(shares, [2.5, 97.5])
        return float(low), float(high)


def _vectors(encoder: Encoder, sentences: Sequence[TaggedSentence]) -> np.ndarray:
    """(layers, tokens, dim) float32 of all sentences."""
    size = (encoder.num_layers, sum(len(one.tokens) for one in sentences), encoder.layer_dim)
    found, start = np.empty(size, dtype=np.float32), 0
    for layers in token_layers(encoder, (one.tokens for one in sentences)):
        found[:, start : start + layers.shape[1]] = layers
        start += layers.shape[1]
    return found


def _numbered(splits: Sequence[Sequence[TaggedSentence]]) -> tuple[list[str], list[np.ndarray]]:
    tags = sorted({tag for split in splits for sentence in split for tag in sentence.tags})
    number = {tag: place for place, tag in enumerate(tags)}
    if not tags:
        raise TextError("the treebanks have no tags. Name CoNLL-U files with tags.")
    return tags, [np.array([number[tag] for one in split for tag in one.tags], dtype=np.int64) for split in splits]


def _percent(right: np.ndarray) -> float:
    return 100 * float(right.mean()) if len(right) else 0.0
