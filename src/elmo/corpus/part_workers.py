"""Part makers: this process, or a pool of others, that number blocks and write them as parts."""

import pickle
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager, nullcontext
from pathlib import Path

from elmo.corpus.block_reader import Recipe, tokenizer_name
from elmo.corpus.blocks import Block
from elmo.corpus.parts import number_block
from elmo.errors import ConfigError
from elmo.process.worker_pool import WorkerDied, WorkerPool, portable
from elmo.text.sentences import Tokenize

_SECONDS_BETWEEN_CHECKS = 0.2


class PartMaker:
    """Has the parts made by a pool of `number` processes, or makes them right here, one after the other.

    What the processes raise is raised here, in the order of the blocks.
    """

    def __init__(self, pool: WorkerPool | None, number: int, check: Callable[[], None]) -> None:
        self._pool, self._check = pool, check
        self._most_waiting = 2 * number
        self._waiting: deque[tuple[Block, Future[None]]] = deque()

    def submit(self, block: Block, recipe: Recipe, path: Path) -> None:
        """Makes a part and writes it to `path`, or schedules that."""
        if self._pool is None:
            number_block(block, recipe, self._check).save(path)
            return
        while len(self._waiting) >= self._most_waiting:
            self._wait_for_first()
        self._waiting.append((block, self._pool.submit(_make_part, block, recipe, path)))

    def finish(self) -> None:
        """Waits until all parts are written."""
        while self._waiting:
            self._wait_for_first()

    def _wait_for_first(self) -> None:
        block, first = self._waiting[0]
        while not first.done():
            self._check()
            wait([first], timeout=_SECONDS_BETWEEN_CHECKS)
        self._waiting.popleft()
        try:
            first.result()
        except WorkerDied as error:
            self._check()  # perhaps of the signal that asked this process to stop
            raise WorkerDied(f"{_name(block)}: {error}") from None


@contextmanager
def part_maker(number: int, check: Callable[[], None], held_files: Sequence[int]) -> Iterator[PartMaker]:
    """The producer of parts: `number` processes, or this one if `number` is 1.

    `check` may raise to stop. `held_files`: descriptors that stay open, with their locks, as long as a process lives.
    """
    with nullcontext() if number == 1 else WorkerPool(number, held_files=held_files) as pool:
        yield PartMaker(pool, number, check)


def check_can_travel(tokenizer: str | Tokenize) -> None:
    """ConfigError if a tokenizer can't be sent to another process."""
    try:
        travels = getattr(tokenizer, "__module__", "") != "__main__" and bool(pickle.dumps(tokenizer))
    except Exception:
        travels = False
    if not travels:
        raise ConfigError(
            f"other processes can't import the tokenizer {tokenizer_name(tokenizer)}. Put it into a module and name it "
            "as 'module:function', or use one worker."
        )


def _make_part(block: Block, recipe: Recipe, path: Path) -> None:
    """In a worker."""
    try:
        number_block(block, recipe).save(path)
    except Exception as error:  # perhaps one of a tokenizer's own
        raise portable(error, f"{_name(block)}: {error!r}. See with --workers 1 where it is.") from None


def _name(block: Block) -> str:
    return f"{block.name}, line {block.first_line} on"
