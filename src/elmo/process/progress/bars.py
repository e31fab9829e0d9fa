"""ProgressBars: progress on a terminal, as bars with the time left, drawn by tqdm; and what draws on a stream."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, TextIO

from tqdm import tqdm

from elmo.process.progress.lines import LossyStream, Pace, ProgressLines, amount, speed
from elmo.process.progress.report import SILENT, Progress

# Seconds: what takes less needs no bar, and a bar shown only briefly is erased.
_UNSEEN = 0.5
_SHORT = 2.0

_WITH_TOTAL = "{l_bar}{bar}| {amount} [{elapsed}<{remaining}, {speed}{postfix}]"
_WITHOUT_TOTAL = "{desc}: {amount} [{elapsed}, {speed}{postfix}]"


class _Bar(tqdm):
    """A stage under way; its figures as everywhere in this package."""

    pace: Pace
    # No thread that wakes sleeping bars: `miniters` is 0, so none sleeps. At the end of a process it waits for a lock,
    # for ever if a fork has left that locked (tqdm 4.66).
    monitor_interval = 0

    @property
    def format_dict(self) -> Any:
        rate = None if (pace := getattr(self, "pace", None)) is None else pace.per_second(self.n, time.monotonic())
        facts = dict(super().format_dict) | {"rate": rate or 0}  # 0: tqdm shows no time left
        return facts | {"amount": amount(self.n, self.total, self.unit), "speed": speed(rate, self.unit) or "?"}


def _form(total: int | None) -> str:
    return _WITHOUT_TOTAL if total is None else _WITH_TOTAL


def _size(stream: TextIO) -> dict[str, Any]:
    """How tqdm learns the terminal's size. One whose size nobody has set reports 0 columns."""
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    return {"dynamic_ncols": True} if columns else {"ncols": 80, "nrows": 20}


class ProgressBars(Progress):
    """Draws a bar for each stage that is under way; one in the course of another appears below it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = LossyStream(stream)
        self._size = _size(stream)
        self._bars: dict[str, _Bar] = {}
        self._lock = threading.RLock()  # a signal handler may report while a report is being drawn

    def show(self, what: str, done: int, total: int | None, unit: str, note: str = "") -> None:
        with self._lock:
            bar = self._bars.get(what)
            if bar is None:
                bar = self._bars[what] = self._new_bar(what, done, total, unit)
            bar.total, bar.bar_format = total, _form(total)
            bar.set_postfix_str(note, refresh=False)
            bar.pace.note(done, time.monotonic())
            bar.update(done - bar.n)
            if total is not None and done >= total:
                self._end(what)

    def say(self, line: str) -> None:
        with self._lock:
            _Bar.write(line, file=self._stream)

    def close(self) -> None:
        """Ends all bars: the operation is over, perhaps before its end. The cursor is at the beginning of a line."""
        with self._lock:
            for what in reversed(list(self._bars)):
                self._end(what)
            self._stream.end_line()  # of a bar that an exception left half drawn, tqdm doesn't know

    def _new_bar(self, what: str, done: int, total: int | None, unit: str) -> _Bar:
        bar = _Bar(
            desc=what,
            total=total,
            initial=done,
            unit=unit,
            bar_format=_form(total),
            file=self._stream,
            **self._size,
            smoothing=0.05,
            miniters=0,  # the clock runs on, even if nothing else happens
            delay=_UNSEEN,
        )
        bar.pace = Pace(done)
        return bar

    def _end(self, what: str) -> None:
        bar = self._bars.pop(what)
        # A bar stays visible as a record of how long the stage took, but not below another one.
        bar.leave = not self._bars and time.time() - bar.start_t >= _SHORT
        bar.close()


@contextmanager
def drawn_on(stream: TextIO | None) -> Iterator[Progress]:
    """What draws on a stream until the block ends, also by an error; nothing on None or a closed one."""
    if stream is None or stream.closed:
        yield SILENT
        return
    drawing = ProgressBars(stream) if _is_redrawn(stream) else ProgressLines(stream)
    with closing(drawing):
        yield drawing


def _is_redrawn(stream: TextIO) -> bool:
    """Whether a carriage return leads back to the beginning of the line: on a terminal and in a notebook."""
    return type(stream).__module__.startswith("ipykernel.") or stream.isatty()
