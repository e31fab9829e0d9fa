"""What is too large for the memory: the error names the batch, or the example, and what makes it smaller."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from elmo.errors import OutOfMemory, TextError
from elmo.process.resources import is_out_of_memory
from elmo.tasks.task import E, P, S, Task


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
