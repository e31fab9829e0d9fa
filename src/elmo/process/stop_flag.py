"""StopFlag: how a long run is asked to stop, and how it finds out.

SIGTERM (a scheduler's warning) and Ctrl-C raise the flag; everything that runs for more than a few seconds checks it
and stops at a point where everything can be saved. Before there is anything to save they end the work at once
(`at_once`), and so does a second signal. The command line listens from its first line on; whatever listens inside of
that block shares its flag.
"""

import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any


class StopRequested(Exception):  # noqa: N818 - no error: the way out of a long loop
    """The run was asked to stop; what was under way is abandoned."""


class StopFlag:
    """Raised by SIGTERM and Ctrl-C. Called as a signal handler; read by `signal` or `check`."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self._at_once = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        is_second, self.signal = self.signal is not None, number
        if is_second or self._at_once:
            raise KeyboardInterrupt

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Inside the block a signal raises KeyboardInterrupt, wherever it comes: there is nothing to be saved yet."""
        before, self._at_once = self._at_once, True
        try:
            if self.signal is not None:
                raise KeyboardInterrupt
            yield
        finally:
            self._at_once = before

    def check(self) -> None:
        """Raises StopRequested if the flag is up: for loops whose work may be thrown away."""
        if self.signal is not None:
            raise StopRequested


@contextmanager
def stop_flag() -> Iterator[StopFlag]:
    """Listens for SIGTERM and Ctrl-C inside the block; not in a thread, where Python gets no signals.

    Inside another such block it yields that one's flag.
    """
    listening = signal.getsignal(signal.SIGTERM)
    if isinstance(listening, StopFlag):
        yield listening
        return
    flag = StopFlag()
    with handled({signal.SIGTERM: flag, signal.SIGINT: flag}):
        yield flag


@contextmanager
def handled(handlers: Mapping[int, Any]) -> Iterator[None]:
    """Inside the block signals, by their numbers, go to these handlers; not in a thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
