"""Examples -> batches of similar size, in an order that only the seed and the epoch decide."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

# Batches whose examples are sorted together: enough for little padding, few enough for ever new combinations.
_POOL = 50


@dataclass(frozen=True)
class BatchLimits:
    """How large a batch may be; a single example always fits."""

    examples: int
    tokens: int = 0
    """Padding included: examples times the largest size. 0: no limit."""
    pairs: int = 0
    """Of tokens, padding included: examples times the square of the largest size. 0: no limit."""

    def cut(
        self, order: Int[np.ndarray, " some"], sizes: Int[np.ndarray, " examples"]
    ) -> Iterator[Int[np.ndarray, " batch"]]:
        """`order`, indices of examples, cut into batches from its beginning. `sizes`: of all examples, in tokens."""
        start = largest = 0
        for end, size in enumerate(sizes[order].tolist()):
            largest = max(largest, size)
            count = end - start
            is_full = count == self.examples or (count and self._is_beyond(count + 1, largest))
            if is_full:
                yield order[start:end]
                start, largest = end, size
        if start < len(order):
            yield order[start:]

    def _is_beyond(self, count: int, largest: int) -> bool:
        return 0 < self.tokens < count * largest or 0 < self.pairs < count * largest**2


def shuffled_batches(
    sizes: Sequence[int], limits: BatchLimits, seed: int, number: int
) -> list[Int[np.ndarray, " batch"]]:
    """All examples' indices in batches, for pass `number` over the data.

    Equal arguments give equal batches, so that a resumed epoch goes on.
    """
    random = np.random.default_rng([seed, number])
    order = random.permutation(len(sizes))
    known = np.asarray(sizes, dtype=np.int64)
    batches: list[Int[np.ndarray, " batch"]] = []
    for start in range(0, len(order), _POOL * limits.examples):
        pool = order[start : start + _POOL * limits.examples]
        pool = pool[np.argsort(known[pool], kind="stable")]
        batches += limits.cut(pool, known)
    return [batches[place] for place in random.permutation(len(batches))]


def sorted_batches(sizes: Sequence[int], limits: BatchLimits) -> Iterator[Int[np.ndarray, " batch"]]:
    """All examples' indices in batches, the largest examples first."""
    known = np.asarray(sizes, dtype=np.int64)
    return limits.cut(np.argsort(-known, kind="stable"), known)


def share_of(groups: Sequence[Hashable], share: float) -> Int[np.ndarray, " kept"]:
    """Indices of the examples in that share of the groups (at least one), ascending.

    `groups`: of each example. Smaller shares are subsets of larger ones.
    """
    numbers = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    order = np.random.default_rng(0).permutation(len(numbers))
    kept = np.zeros(len(numbers), dtype=bool)
    kept[order[: max(1, round(share * len(numbers)))]] = True
    return np.flatnonzero(kept[[numbers[group] for group in groups]])
