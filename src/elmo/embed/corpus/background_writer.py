"""BackgroundWriter: one piece of work at a time in a thread of its own, while the caller prepares the next."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Self


class BackgroundWriter:
    """A context; at its end nothing is running any more.

    Writing waits for the disk and copies memory, both without Python's lock, so vectors are computed meanwhile.
    """

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="one-behind")
        self._running: Future[Any] | None = None

    def start(self, work: Callable[..., Any], *arguments: Any) -> None:
        """Begins the next piece, after `wait` for the one before."""
        self.wait()
        self._running = self._pool.submit(work, *arguments)

    def wait(self) -> None:
        """Until the last piece is done; raises what it raised."""
        running, self._running = self._running, None
        if running is not None:
            running.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=True)
