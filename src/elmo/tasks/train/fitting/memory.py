"""Batches that are too large for the memory: the error names the batch and what makes it smaller."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from elmo.errors import OutOfMemory
from elmo.process.memory import is_out_of_memory
from elmo.tasks.task import E, P, S, Task


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
