"""Examples -> batches of similar length, in an order that only the seed and the epoch decide."""

from collections.abc import Iterator, Sequence

import numpy as np

# Batches whose examples are sorted together: enough for little padding, few enough for ever new company.
_POOL = 50


def shuffled_batches(lengths: Sequence[int], size: int, seed: int, number: int) -> list[np.ndarray]:
    """All examples' indices in batches of `size`, for the pass of that number over the data.

    Equal arguments give equal batches, so that a resumed epoch goes on.
    """
    random = np.random.default_rng([seed, number])
    order = random.permutation(len(lengths))
    batches = []
    for start in range(0, len(order), _POOL * size):
        pool = order[start : start + _POOL * size]
        pool = pool[np.argsort(np.asarray(lengths)[pool], kind="stable")]
        batches += [pool[place : place + size] for place in range(0, len(pool), size)]
    return [batches[place] for place in random.permutation(len(batches))]


def sorted_batches(lengths: Sequence[int], size: int) -> Iterator[np.ndarray]:
    """All examples' indices in batches of `size`, the longest examples first."""
    order = np.argsort(-np.asarray(lengths, dtype=np.int64), kind="stable")
    return (order[start : start + size] for start in range(0, len(order), size))


def share_of(count: int, share: float) -> np.ndarray:
    """Indices of that share of `count` examples (at least one), ascending: smaller shares are parts of larger ones."""
    kept = np.random.default_rng(0).permutation(count)[: max(1, round(share * count))]
    return np.sort(kept)
