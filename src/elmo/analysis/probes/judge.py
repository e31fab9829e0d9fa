"""Predicted tags against the test file's: one row of the table, with intervals over sentences."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from jaxtyping import Shaped

from elmo.analysis.probes.controls import ambiguous, unseen
from elmo.analysis.probes.online_code import OnlineCode
from elmo.analysis.probes.treebank import TaggedSentence

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
        self, encoder: str, layer: str, predicted: Sequence[str], below: Sequence[str] | None = None, **measured: Any
    ) -> ProbeRow:
        """The row of one layer. `below`: what was predicted from the layer before; `measured`: its other fields."""
        right = np.array(predicted) == self._gold
        gain = None if below is None else right.astype(np.int64) - (np.array(below) == self._gold)
        return ProbeRow(
            encoder,
            layer,
            percent(right),
            self._interval(right),
            unseen=percent(right[self._unseen]) if self._unseen.any() else None,
            ambiguous=percent(right[self._ambiguous]) if self._ambiguous.any() else None,
            over_layer_below=None if gain is None else (percent(gain), *self._interval(gain)),
            **measured,
        )

    def _interval(self, values: Shaped[np.ndarray, " tokens"]) -> tuple[float, float]:
        """Sentences are drawn with replacement: the words of one aren't independent of each other."""
        starts = np.concatenate([[0], np.cumsum(self._lengths)[:-1]])
        sums = np.add.reduceat(values.astype(np.int64), starts)
        drawn = np.random.default_rng(0).integers(len(sums), size=(DRAWS, len(sums)))
        shares = 100 * sums[drawn].sum(axis=1) / self._lengths[drawn].sum(axis=1)
        low, high = np.percentile(shares, [2.5, 97.5])
        return float(low), float(high)


def percent(values: Shaped[np.ndarray, " values"]) -> float:
    """The mean in percent; 0 of nothing."""
    return 100 * float(values.mean()) if len(values) else 0.0
