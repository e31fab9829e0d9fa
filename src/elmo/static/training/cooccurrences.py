"""Co-occurrences: how often two words stand near each other, the nearer the more. Source: GloVe, section 4.2.

A pair of words d words apart counts 1 / d. Words without a vector are taken out before, as GloVe's own program does.
"""

from dataclasses import dataclass

import numpy as np

from elmo.shapes import Float, Int

# Words counted at a time: ten pairs of 8 bytes each, sorted.
_CHUNK_WORDS = 1 << 20
# The low bits of a key hold the distance, so that a sort groups pairs and distances at once.
_DISTANCE_BITS = 6
MAX_WINDOW = (1 << _DISTANCE_BITS) - 1


@dataclass(frozen=True)
class Cooccurrences:
    """Pairs of words, each once, the first word not after the second."""

    first: Int[np.ndarray, " pairs"]
    second: Int[np.ndarray, " pairs"]
    counts: Float[np.ndarray, " pairs"]
    """float64: X[first, second], which is X[second, first]"""


class CooccurrenceCounter:
    """Counts sentence by sentence; the memory is that of the distinct pairs."""

    def __init__(self, num_words: int, window: int) -> None:
        self._num_words = num_words
        self._window = window
        self._waiting: list[Int[np.ndarray, " tokens"]] = []
        self._num_waiting = 0
        # Sorted runs, larger ones first; two of similar size are merged, so each pair moves a few times only.
        self._runs: list[tuple[Int[np.ndarray, " pairs"], Float[np.ndarray, " pairs"]]] = []

    def add(self, ids: Int[np.ndarray, " tokens"]) -> None:
        """A sentence. `ids`: words without a vector left out."""
        self._waiting.append(ids)
        self._num_waiting += len(ids)
        if self._num_waiting >= _CHUNK_WORDS:
            self._count_waiting()

    def result(self) -> Cooccurrences:
        """What was counted so far."""
        self._count_waiting()
        while len(self._runs) > 1:
            self._merge_last()
        keys, counts = self._runs[0] if self._runs else (np.zeros(0, np.int64), np.zeros(0))
        first, second = np.divmod(keys, self._num_words)
        # A word near itself is seen from both sides.
        return Cooccurrences(first, second, np.where(first == second, 2 * counts, counts))

    def _count_waiting(self) -> None:
        if not self._waiting:
            return
        ids = np.concatenate(self._waiting)
        sentence = np.repeat(np.arange(len(self._waiting)), [len(part) for part in self._waiting])
        self._waiting, self._num_waiting = [], 0
        keys = np.concatenate([self._keys(ids, sentence, distance) for distance in range(1, self._window + 1)])
        keys.sort()
        starts = _starts(keys)
        times = np.diff(starts, append=len(keys))
        keys = keys[starts]
        weights = times / (keys & MAX_WINDOW)
        self._runs.append(_summed(keys >> _DISTANCE_BITS, weights))
        while len(self._runs) > 1 and 2 * len(self._runs[-1][0]) >= len(self._runs[-2][0]):
            self._merge_last()

    def _keys(
        self, ids: Int[np.ndarray, " tokens"], sentence: Int[np.ndarray, " tokens"], distance: int
    ) -> Int[np.ndarray, " pairs"]:
        left, right = ids[:-distance], ids[distance:]
        together = sentence[:-distance] == sentence[distance:]
        left, right = left[together], right[together]
        pairs = np.minimum(left, right) * self._num_words + np.maximum(left, right)
        return (pairs << _DISTANCE_BITS) | distance

    def _merge_last(self) -> None:
        (one, counts), (other, more) = self._runs.pop(), self._runs.pop()
        keys, weights = np.concatenate([other, one]), np.concatenate([more, counts])
        order = np.argsort(keys, kind="stable")
        self._runs.append(_summed(keys[order], weights[order]))


def _starts(keys: Int[np.ndarray, " keys"]) -> Int[np.ndarray, " starts"]:
    """Where each run of equal keys begins."""
    return np.flatnonzero(np.concatenate([np.ones(min(1, len(keys)), bool), keys[1:] != keys[:-1]]))


def _summed(
    keys: Int[np.ndarray, " keys"], weights: Float[np.ndarray, " keys"]
) -> tuple[Int[np.ndarray, " pairs"], Float[np.ndarray, " pairs"]]:
    starts = _starts(keys)
    return keys[starts], np.add.reduceat(weights, starts) if len(starts) else weights
