"""Progress: what a long operation reports to, whoever shows it.

An operation goes through stages, such as "reading" and "embedding". A stage begins with the first report that names it
and ends when `done` equals `total`; stages may contain others. Every operation reports nothing unless it is given a
`Progress`, or True for the bars of the command line.
"""

import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

T = TypeVar("T")


class Progress(Protocol):
    """Receives the reports of a long operation. Derive from it to show them in a way of your own.

    Methods that are not overridden do nothing. They are called often, so they should return quickly, and perhaps from
    several threads. What they raise ends the operation.
    """

    def show(self, what: str, done: int, total: int | None, unit: str, note: str = "") -> None:
        """A stage has done `done` of `total` units.

        `what`: the stage. `total`: None if it is not known. `unit`: what is counted, in the plural: "bytes", "tokens",
        "sentences". `note`: more about the moment, such as the loss. The first report of a stage has where it begins:
        at 0, or where an earlier run was interrupted. From there `done` never falls, except where a download has to
        start again. A stage that ends early, or whose total was not known, ends with a report whose total is what was
        done.
        """

    def say(self, line: str) -> None:
        """A line of text that should stay visible, such as the result of an evaluation."""


class _Silent(Progress):
    """Ignores all reports."""


SILENT: Progress = _Silent()
"""For nobody: what operations report to by default."""


class Count:
    """One stage, as the sum of what several callers or threads have done."""

    def __init__(self, progress: Progress, what: str, total: int | None, unit: str, *, done: int = 0) -> None:
        """Begins the stage. `done`: by an earlier run."""
        self.done = done
        self._progress, self._what, self._total, self._unit = progress, what, total, unit
        self._lock = threading.Lock()
        progress.show(what, done, total, unit)

    def add(self, more: int = 1) -> None:
        """So many units more are done."""
        with self._lock:  # also around the report, so that a smaller sum never follows a larger one
            self.done += more
            self._progress.show(self._what, self.done, self._total, self._unit)

    def finish(self) -> None:
        """The stage is over, whether or not the total was reached."""
        with self._lock:
            if self.done != self._total:
                self._progress.show(self._what, self.done, self.done, self._unit)

    def each(self, items: Iterable[T]) -> Iterator[T]:
        """The items; each counts as one unit when the next one is asked for."""
        for item in items:
            yield item
            self.add()


@contextmanager
def following(progress: Progress | bool) -> Iterator[Progress]:
    """What an operation reports to inside the block: for True bars or lines on stderr, for False nobody.

    Raises ConfigError for what is neither a bool nor a `Progress`.
    """
    if progress is True:
        # Imported here, for the sake of callers that show nothing.
        from elmo.process.progress.shown import drawn_on

        with drawn_on(sys.stderr) as drawn:
            yield drawn
    elif progress is False:
        yield SILENT
    else:
        yield progress
