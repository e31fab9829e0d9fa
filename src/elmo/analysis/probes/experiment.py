"""The paper's table 6 on one's own treebank: each layer of each encoder, beside what needs no vectors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from elmo.analysis.encoders import layer_name, require_known_words, token_layers
from elmo.analysis.probes.controls import control_tags, majority_tags
from elmo.analysis.probes.judge import Judge, ProbeRow, percent
from elmo.analysis.probes.linear_probe import STRENGTHS, Split, fit
from elmo.analysis.probes.online_code import OnlineCode, online_code
from elmo.analysis.probes.treebank import TagColumn, TaggedSentence, read_treebank
from elmo.embed.encoder import Encoder
from elmo.errors import TextError
from elmo.process.progress.report import Count, Progress, following

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
    column: TagColumn = "xpos",
    measures: Measures = EVERYTHING,
    progress: Progress | bool = False,
) -> ProbeTable:
    """Probes every layer. The first row answers with each word's most frequent tag.

    All layers of one encoder are held in memory: 4 bytes x tokens x layers x dimensions. `progress`: receives the
    sentences that are embedded with each encoder, and the layers that are probed; True: bars on stderr. Raises
    TextError for static vectors that have none of the words.
    """
    splits = [read_treebank(path, column) for path in (files.train, files.dev, files.test)]
    require_known_words(encoders, (word for split in splits for sentence in split for word in sentence.tokens))
    judge = Judge(splits[0], splits[2])
    rows = [judge.row("", MAJORITY, majority_tags(splits[0], splits[2]))]
    with following(progress) as reported:
        for name, encoder in encoders.items():
            embedded = Count(reported, f"{name}: embedding", sum(map(len, splits)), "sentences")
            vectors = [_vectors(encoder, split, embedded) for split in splits]
            below = None
            probed_layers = Count(reported, f"{name}: probing", encoder.num_layers, "layers")
            for layer in probed_layers.each(range(encoder.num_layers)):
                probed = _Probed([split[layer] for split in vectors], splits, measures)
                predicted = probed.predicted()
                rows.append(judge.row(name, layer_name(encoder, layer), predicted, below, **probed.measured()))
                below = predicted
    train, dev, test = (sum(len(one.tokens) for one in split) for split in splits)
    return ProbeTable(tuple(rows), (train, dev, test), len(_numbered(splits)[0]), *judge.shares())


class _Probed:
    """One layer's probe, and what else is measured of the layer."""

    def __init__(
        self,
        layers: Sequence[Float[np.ndarray, "tokens dim"]],
        splits: Sequence[Sequence[TaggedSentence]],
        measures: Measures,
    ) -> None:
        self._layers, self._splits, self._measures = layers, splits, measures
        self._tags, self._numbers = _numbered(splits)
        train, dev, _ = map(Split, layers, self._numbers)
        self._probe = fit(train, dev, measures.strengths)

    def predicted(self) -> list[str]:
        """Of the test tokens."""
        return [self._tags[number] for number in self._probe.predict(self._layers[2])]

    def measured(self) -> dict[str, Any]:
        """The other fields of the row."""
        return {
            "control": self._control() if self._measures.control else None,
            "code": self._code() if self._measures.code else None,
            "strength": self._probe.strength,
            "dev_accuracy": self._probe.dev_accuracy,
        }

    def _control(self) -> float:
        """Accuracy on random tags of a probe with the same penalty."""
        _, random = _numbered(control_tags(self._splits, CONTROL_SEED))
        train, dev, test = map(Split, self._layers, random)
        learned = fit(train, dev, [self._probe.strength])
        return percent(learned.predict(test.vectors) == test.tags)

    def _code(self) -> OnlineCode:
        lengths = np.array([len(one.tokens) for one in self._splits[0]])
        train = Split(self._layers[0], self._numbers[0])
        num_tags = len(np.unique(train.tags))
        return online_code(train, lengths, num_tags=num_tags, strengths=self._measures.strengths)


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
    if not tags:
        raise TextError("the treebanks have no tags. Name CoNLL-U files with tags.")
    return tags, [np.array([number[tag] for one in split for tag in one.tags], dtype=np.int64) for split in splits]
