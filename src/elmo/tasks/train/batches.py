"""Examples -> batches of similar size, in an order that only the seed and the epoch decide.

What is too large for the memory is an error that names the batch or the example, and how to make it smaller.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Int

from elmo.errors import OutOfMemory, TextError
from elmo.process.resources import is_out_of_memory
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


def sorted_batches(sizes: Sequence[int], limits: BatchLimits) -> Iterator[Int[np.ndarray, " batch"]]:
    """All examples' indices in batches, the largest examples first."""
    known = np.asarray(sizes, dtype=np.int64)
    return limits.cut(np.argsort(-known, kind="stable"), known)


def limits_of(settings: FitSettings, task: Task[S, E, P]) -> BatchLimits:
    """How large batches may be. What a model compares with each other in a batch is no more than in one long text."""
    return BatchLimits(settings.batch_size, settings.batch_tokens, (task.most_tokens or 0) ** 2)


def require_moderate(task: Task[S, E, P], examples: Iterable[E]) -> None:
    """TextError for an example with a sentence of more tokens than `Task.most_tokens`, before anything is computed."""
    if task.most_tokens is None:
        return
    for example in examples:
        longest = max(task.sentences(example), key=len, default=())
        if len(longest) > task.most_tokens:
            raise TextError(
                f"{_where(example)}the text that begins {' '.join(longest[:12])[:60]!r} has {len(longest):,} tokens, "
                f"but the task {task.name!r} takes at most {task.most_tokens:,}: its model compares every token with "
                "every other one, so memory and time grow with the square. Split the text into shorter ones; long "
                "training examples are left out by --max-length."
            )


def _where(example: object) -> str:
    """An example's file and line, or its id, if it has them: "dev.json, 56be4: "."""
    facts = [str(getattr(example, name, "") or "") for name in ("source", "line", "id")]
    source, line, name = facts
    place = f"{source}:{line}" if source and line else ", ".join(filter(None, (source, name)))
    return f"{place}: " if place else ""


@contextmanager
def enough_memory_for(task: Task[S, E, P], examples: Sequence[E]) -> Iterator[None]:
    """Raises OutOfMemory if the block, which computes a batch of `examples`, needs more memory than there is."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        sizes = [task.size(example) for example in examples]
        begins = " ".join(" ".join(sentence) for sentence in task.sentences(examples[sizes.index(max(sizes))]))
        raise OutOfMemory(
            f"not enough memory for a batch of {len(sizes)} examples; the longest has {max(sizes):,} tokens and begins "
            f"{begins[:60]!r}. Use a smaller --batch-size, limit --batch-tokens, leave out long training examples with "
            "--max-length, or split such a text into sentences."
        ) from None
