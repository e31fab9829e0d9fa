"""WorkerPool: other processes that call functions for this one, so that all cores are used.

A worker gets its calls and answers them over two pipes. (Python's multiprocessing would run the caller's script once
more.) It ends when its calls end, even after kill -9 of the process that started it.
"""

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Annotated, Any, Self

from elmo.errors import ElmoError
from elmo.process.resources import num_cores
from elmo.setting_checks import from_to, require_value

_START = "import sys; sys.path[:] = {path!r}; from elmo.process.worker_pool import work; work({calls}, {answers})"


def require_workers(workers: int) -> None:
    """ConfigError for a number of workers that is a typing error: below 1, or above 64 and 4 for each core."""
    require_value("workers", workers, Annotated[int, from_to(1, max(64, 4 * num_cores()))])


class WorkerDied(ElmoError):
    """A worker ended without an answer, most often for lack of memory."""


class WorkerPool:
    """A context of `number` processes. None outlives it.

    `held_files`: descriptors that stay open in them, with their locks. `environment`: variables beside this process's.
    `patient`: whether the end of the block waits for the calls under way; an exception meanwhile ends them.
    """

    def __init__(
        self,
        number: int,
        *,
        held_files: Sequence[int] = (),
        environment: Mapping[str, str] | None = None,
        patient: bool = False,
    ) -> None:
        self._patient = patient
        self._threads = ThreadPoolExecutor(number)
        self._workers = [_Worker(held_files, environment or {}) for _ in range(number)]
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        for worker in self._workers:
            self._idle.put(worker)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Calls a function of a module in the next idle worker. Raises WorkerDied in the end, or what it raised."""
        return self._threads.submit(self._call, function, *arguments)

    def _call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """In a thread; there are as many as workers."""
        worker = self._idle.get()
        try:
            return worker.call(function, *arguments)
        finally:
            self._idle.put(worker)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        try:
            if self._patient:
                for worker in self._workers:
                    worker.end_calls()
                for worker in self._workers:
                    worker.process.wait()
        finally:
            for worker in self._workers:
                worker.kill()
            self._threads.shutdown()


class _Worker:
    """A process, seen from the one that started it."""

    def __init__(self, held_files: Sequence[int], environment: Mapping[str, str]) -> None:
        calls, self._calls = Pipe(duplex=False)
        self._answers, answers = Pipe(duplex=False)
        with calls, answers:
            theirs = {"calls": calls.fileno(), "answers": answers.fileno()}
            self.process = subprocess.Popen(
                [sys.executable, "-c", _START.format(path=sys.path, **theirs)],
                stdin=subprocess.DEVNULL,
                stdout=2,  # what anybody prints goes to standard error
                pass_fds=[*theirs.values(), *held_files],
                env=os.environ | dict(environment),
            )

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        content = pickle.dumps((function, arguments))
        try:
            self._calls.send_bytes(content)
            result, error = pickle.loads(self._answers.recv_bytes())
        except (OSError, EOFError):
            code = self.process.wait()
            raise WorkerDied(
                f"a worker ended with code {code}, most often for lack of memory. Use fewer --workers and --resume."
            ) from None
        if error is not None:
            raise error
        return result

    def end_calls(self) -> None:
        with contextlib.suppress(OSError):
            self._calls.close()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.end_calls()
        self._answers.close()


_at_end: Callable[[], object] | None = None


@contextlib.contextmanager
def ended_by(handler: Callable[[], object]) -> Iterator[None]:
    """In a worker: inside the block, the end of the calls runs `handler` instead of ending the process."""
    global _at_end
    _at_end = handler
    try:
        yield
    finally:
        _at_end = None


def work(calls: int, answers: int) -> None:
    """What a worker process does; the descriptors of its pipes."""
    # Ctrl-C reaches all processes of a terminal, a scheduler's SIGTERM all of a job; the parent decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    received: SimpleQueue[bytes | None] = SimpleQueue()
    threading.Thread(target=_listen, args=(Connection(calls, writable=False), received), daemon=True).start()
    connection = Connection(answers, readable=False)
    while (content := received.get()) is not None:
        with contextlib.suppress(BrokenPipeError):  # whoever started this process was killed
            connection.send_bytes(_answer(content))


def _listen(calls: Connection, received: "SimpleQueue[bytes | None]") -> None:
    """In a thread of its own, so that the end of the calls is seen whatever the worker is doing."""
    with contextlib.suppress(EOFError):
        while True:
            received.put(calls.recv_bytes())
    if _at_end is None:
        os._exit(0)
    received.put(None)
    _at_end()


def _answer(content: bytes) -> bytes:
    """What the call returns, or raises, pickled."""
    try:
        function, arguments = pickle.loads(content)
        return pickle.dumps((function(*arguments), None))
    except Exception as error:
        return pickle.dumps(
            (None, portable(error, f"{error!r}, in a worker process. Run it with one worker to see where."))
        )


def portable(error: Exception, instead: str) -> Exception:
    """The error, or an ElmoError with the message `instead` if it can't be pickled."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return ElmoError(instead)
    return error
