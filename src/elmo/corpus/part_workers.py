"""Workers: other processes that make parts, so that all cores are used.

A worker gets blocks through its standard input and answers, when the part is written, on its standard output. It ends
at once when its input ends: even after kill -9 of the process that started it.
"""

import contextlib
import os
import pickle
import signal
import struct
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any

from elmo.corpus.block_reader import Recipe, tokenizer_name
from elmo.corpus.blocks import Block
from elmo.corpus.parts import number_block
from elmo.errors import ConfigError, ElmoError
from elmo.process.answering_process import answers, portable, started

_SECONDS_BETWEEN_CHECKS = 0.2
_LENGTH = struct.Struct("<Q")


class WorkerDied(ElmoError):
    """A worker ended without an answer, most often for lack of memory."""


class InThisProcess:
    """Makes the parts right here, one after the other."""

    def __init__(self, check: Callable[[], None]) -> None:
        self._check = check

    def submit(self, block: Block, recipe: Recipe, path: Path) -> None:
        """Makes a part and writes it to `path`."""
        number_block(block, recipe, self._check).save(path)

    def finish(self) -> None:
        """Nothing is left to do."""


class Workers:
    """`number` processes. What they raise is raised by `submit` and `finish`, in the order of the blocks."""

    def __init__(self, number: int, check: Callable[[], None], held_files: Sequence[int]) -> None:
        self._check = check
        self._most_waiting = 2 * number
        self._threads = ThreadPoolExecutor(number)
        self._processes = [_Process(held_files) for _ in range(number)]
        self._idle: SimpleQueue[_Process] = SimpleQueue()
        for process in self._processes:
            self._idle.put(process)
        self._waiting: deque[Future[None]] = deque()

    def submit(self, block: Block, recipe: Recipe, path: Path) -> None:
        """Schedules a part to be made and written to `path`."""
        while len(self._waiting) >= self._most_waiting:
            self._wait_for_first()
        self._waiting.append(self._threads.submit(self._ask, block, recipe, path))

    def finish(self) -> None:
        """Waits until all parts are written."""
        while self._waiting:
            self._wait_for_first()

    def close(self) -> None:
        """Ends the processes, whatever they are doing."""
        for future in self._waiting:
            future.cancel()
        for process in self._processes:
            process.end()
        self._threads.shutdown()

    def _wait_for_first(self) -> None:
        # The others go on; the order of answers, and of errors, is that of the blocks.
        first = self._waiting[0]
        while not first.done():
            self._check()
            wait([first], timeout=_SECONDS_BETWEEN_CHECKS)
        try:
            self._waiting.popleft().result()
        except WorkerDied:
            # Perhaps of the signal that asked this process to stop.
            self._check()
            raise

    def _ask(self, block: Block, recipe: Recipe, path: Path) -> None:
        """In a thread; there are as many as processes."""
        process = self._idle.get()
        try:
            process.ask(block, recipe, path)
        finally:
            self._idle.put(process)


@contextlib.contextmanager
def part_makers(
    number: int, check: Callable[[], None], held_files: Sequence[int] = ()
) -> Iterator[InThisProcess | Workers]:
    """The producer of parts: `number` processes, or this one if `number` is 1.

    `check` may raise to stop. `held_files`: descriptors that stay open, with their locks, as long as a process lives.
    """
    if number == 1:
        yield InThisProcess(check)
        return
    workers = Workers(number, check, held_files)
    try:
        yield workers
    finally:
        workers.close()


def check_can_travel(recipe: Recipe) -> None:
    """ConfigError if the recipe can't be sent to another process."""
    try:
        travels = getattr(recipe.tokenizer, "__module__", "") != "__main__" and bool(pickle.dumps(recipe))
    except Exception:
        travels = False
    if not travels:
        raise ConfigError(
            f"the tokenizer {tokenizer_name(recipe.tokenizer)} can't be sent to other processes, because they can't "
            "import it. Put it into a module and name it as 'module:function', or use one worker."
        )


class _Process:
    """A worker, seen from the process that started it."""

    def __init__(self, held_files: Sequence[int]) -> None:
        self._process = started(__name__, held_files=held_files)

    def ask(self, block: Block, recipe: Recipe, path: Path) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            _send(self._process.stdin, (block, recipe, path))
            error = _receive(self._process.stdout)
        except (OSError, EOFError):
            code = self._process.wait()
            raise WorkerDied(
                f"{block.name}, line {block.first_line} on: the worker process ended with code {code} without an "
                "answer; most often memory was short. Use fewer --workers and continue with --resume."
            ) from None
        if error is not None:
            raise error

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()


def work() -> None:
    """What a worker process does."""
    # Ctrl-C reaches all processes of a terminal, a scheduler's SIGTERM all of a job; the parent decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    stream = answers()
    tasks: SimpleQueue[tuple[Block, Recipe, Path]] = SimpleQueue()
    threading.Thread(target=_listen, args=(tasks,), daemon=True).start()
    while True:
        _send(stream, _error_of(*tasks.get()))


def _listen(tasks: "SimpleQueue[tuple[Block, Recipe, Path]]") -> None:
    """In a thread of its own, so that the end of the input is the end of the worker, whatever it is doing."""
    while True:
        try:
            tasks.put(_receive(sys.stdin.buffer))
        except EOFError:
            os._exit(0)


def _error_of(block: Block, recipe: Recipe, path: Path) -> Exception | None:
    try:
        number_block(block, recipe).save(path)
    except Exception as error:  # perhaps one of a tokenizer's own
        return portable(
            error, f"{block.name}, line {block.first_line} on: {error!r}. See with --workers 1 where it is."
        )
    return None


def _send(stream: IO[bytes], message: Any) -> None:
    content = pickle.dumps(message)
    stream.write(_LENGTH.pack(len(content)) + content)
    stream.flush()


def _receive(stream: IO[bytes]) -> Any:
    """EOFError if the other side has ended."""
    header = stream.read(_LENGTH.size)
    if len(header) < _LENGTH.size:
        raise EOFError
    length = _LENGTH.unpack(header)[0]
    content = stream.read(length)
    if len(content) < length:
        raise EOFError
    return pickle.loads(content)
