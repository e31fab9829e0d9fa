"""Examples -> batches of similar size, in an order that only the seed and the epoch decide."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Int

from elmo.tasks.settings import FitSettings
from elmo.tasks.task import E, P, S, Task

# Batches whose examples are sorted together: enough for little padding, few enough for ever new combinations.
_POOL = 50
# Examples; with fewer, the gradients of single ones are too noisy.
_SMALLEST_BATCH = 8


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

    def in_training(self, num_examples: int, least_batches: int) -> "BatchLimits":
        """The same, but little data makes smaller batches (`FitSettings.least_batches`)."""
        fewer = max(_SMALLEST_BATCH, num_examples // least_batches) if least_batches else self.examples
        return replace(self, examples=min(self.examples, fewer))

    def _is_beyond(self, count: int, largest: int) -> bool:
        return 0 < self.tokens < count * largest or 0 < self.pairs < count * largest**2


def shuffled_batches(
    sizes: Sequence[int], limits: BatchLimits, seed: int, number: int
) -> list[Int[np.ndarray, " batch"]]:
    """All examples' indices in batches, for pass `number` over the data.

    Equal arguments give equal batches, so that an epoch can be resumed.
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


@dataclass(frozen=True)
class Epochs:
    """The batches of a training's epochs, each of so many passes over the data, every pass in an order of its own."""

    sizes: Sequence[int]
    """Of all examples, in tokens."""
    limits: BatchLimits
    seed: int
    passes: int = 1

    def batches(self, epoch: int, poll: Callable[[], None] = lambda: None) -> list[Int[np.ndarray, " batch"]]:
        """Those of an epoch, from 0. `poll` is called before each pass: millions of batches take a while."""
        found: list[Int[np.ndarray, " batch"]] = []
        for number in range(epoch * self.passes, (epoch + 1) * self.passes):
            poll()
            found += shuffled_batches(self.sizes, self.limits, self.seed, number)
        return found


def sorted_batches(sizes: Sequence[int], limits: BatchLimits) -> Iterator[Int[np.ndarray, " batch"]]:
    """All examples' indices in batches, the largest examples first."""
    known = np.asarray(sizes, dtype=np.int64)
    return limits.cut(np.argsort(-known, kind="stable"), known)


def limits_of(settings: FitSettings, task: Task[S, E, P]) -> BatchLimits:
    """How large batches may be. What a model compares with each other in a batch is no more than in one long text."""
    return BatchLimits(settings.batch_size, settings.batch_tokens, (task.most_tokens or 0) ** 2)
