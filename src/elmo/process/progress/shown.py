"""What draws progress: bars on a terminal, and elsewhere, where nothing can be redrawn, a line now and then.

Both are tqdm's figures. A speed is told after some seconds: the first ones are spent on loading.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TextIO

from tqdm import tqdm

from elmo.process.progress.report import SILENT, Progress

# Seconds: what takes less needs no bar, a bar shown only briefly is erased, and a speed means something.
_UNSEEN = 0.5
_SHORT = 2.0
_YOUNG = 3.0
# Between two lines: ten seconds, and less and less often, but within ten minutes, so that a log looks alive.
_SHORTEST_PAUSE = 10.0
_LONGEST_PAUSE = 600.0
_PAUSE_SHARE = 0.1
_BAR, _PERCENT = "{percentage:3.0f}%|{bar}| ", "{percentage:.0f}%, "
_WRITTEN_OUT = 10_000
"""Counts of smaller stages are written with all their digits."""


def duration(seconds: float) -> str:
    """Hours, minutes and seconds: "0:03:47"; also "2 days, 0:03:47"."""
    return str(timedelta(seconds=round(seconds)))


def _figures(total: int | None, unit: str, elapsed: float, begin: str) -> dict[str, Any]:
    """How tqdm writes a stage; `begin`: percent and bar, where there is a total."""
    mark = "B" if unit == "bytes" else ""
    amount = f"{{n_fmt}}{mark}" if total is None else f"{begin}{{n_fmt}}{mark} of {{total_fmt}}{mark}"
    amount = amount if mark else f"{amount} {{unit}}"
    speed = "" if elapsed < _YOUNG else ", {rate_fmt}" if total is None else "<{remaining}, {rate_fmt}"
    return {
        "bar_format": f"{{desc}}: {amount} [{{elapsed}}{speed}{{postfix}}]",
        "unit": mark or unit,
        "unit_scale": bool(mark) or (total or 0) >= _WRITTEN_OUT,
    }


class LossyStream:
    """A stream that loses what it can't write: a log on a full disk must not end a training."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_broken = False
        self._is_at_line_start = True

    def write(self, text: str) -> None:
        """Writes the text, unless an earlier attempt failed."""
        if self._is_broken or not text:
            return
        self._is_at_line_start = text[-1] in "\r\n"  # before writing, which Ctrl-C may end
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # ValueError: somebody has closed it
            self._is_broken = True

    def end_line(self) -> None:
        """Whatever is written next begins a line."""
        if not self._is_at_line_start:
            self.write("\n")

    def flush(self) -> None:
        """Does nothing: `write` has already flushed."""

    def __getattr__(self, name: str) -> object:
        """What else tqdm asks for: the encoding, and the descriptor that knows how wide the terminal is."""
        return getattr(self._stream, name)


class ProgressBars(Progress):
    """Draws a bar for each stage that is under way; one in the course of another appears below it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = LossyStream(stream)
        self._size = _size(stream)
        self._bars: dict[str, tqdm] = {}
        self._lock = threading.RLock()  # a signal handler may report while a report is being drawn
        # tqdm's thread that wakes sleeping bars: `miniters` is 0, so none sleeps. At the end of a process it waits for
        # a lock, for ever if a fork has left that locked (tqdm 4.66).
        tqdm.monitor_interval = 0

    def show(self, what: str, done: int, total: int | None, unit: str, note: str = "") -> None:
        with self._lock:
            bar = self._bars.get(what)
            if bar is None:
                bar = self._bars[what] = self._new_bar(what, done, total, unit)
            bar.total = total
            for name, value in _figures(total, unit, time.time() - bar.start_t, _BAR).items():
                setattr(bar, name, value)
            bar.set_postfix_str(note, refresh=False)
            bar.update(done - bar.n)
            if total is not None and done >= total:
                self._end(what)

    def say(self, line: str) -> None:
        with self._lock:
            tqdm.write(line, file=self._stream)

    def close(self) -> None:
        """Ends all bars: the operation is over, perhaps before its end. The cursor is at the beginning of a line."""
        with self._lock:
            for what in reversed(list(self._bars)):
                self._end(what)
            self._stream.end_line()  # of a bar that an exception left half drawn, tqdm doesn't know

    def _new_bar(self, what: str, done: int, total: int | None, unit: str) -> tqdm:
        # `miniters`: the clock runs on, even if nothing else happens.
        times = {"smoothing": 0.05, "miniters": 0, "delay": _UNSEEN}
        figures = _figures(total, unit, 0, _BAR)
        return tqdm(desc=what, total=total, initial=done, file=self._stream, **figures, **self._size, **times)

    def _end(self, what: str) -> None:
        bar = self._bars.pop(what)
        # A bar stays visible as a record of how long the stage took, but not below another one.
        bar.leave = not self._bars and time.time() - bar.start_t >= _SHORT
        bar.close()


@dataclass
class _Stage:
    """A stage under way."""

    began: float
    first: int
    """What was done when it began."""
    written: tuple[int, str]
    """What was done, and the note, in the last line."""


class ProgressLines(Progress):
    """Writes a line now and then, and one at the end of each stage; of stages shorter than ten seconds, none."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock`: seconds from any beginning."""
        self._stream, self._clock = LossyStream(stream), clock
        self._stages: dict[str, _Stage] = {}
        self._began = self._written = clock()
        self._lock = threading.RLock()  # as above

    def show(self, what: str, done: int, total: int | None, unit: str, note: str = "") -> None:
        with self._lock:
            now = self._clock()
            stage = self._stages.setdefault(what, _Stage(now, done, (done, note)))
            elapsed, is_over = now - stage.began, total is not None and done >= total
            pause = min(max(_SHORTEST_PAUSE, _PAUSE_SHARE * (now - self._began)), _LONGEST_PAUSE)
            is_due = now - self._written >= pause and elapsed >= _YOUNG and (done, note) != stage.written
            if elapsed >= _SHORTEST_PAUSE if is_over else is_due:
                facts = _figures(total, unit, elapsed, _PERCENT) | {"prefix": what, "initial": stage.first}
                most: Any = total and max(done, total)  # None: unknown, which tqdm's types don't have
                self.say(tqdm.format_meter(done, most, elapsed, postfix=note, ncols=None, **facts))
                stage.written, self._written = (done, note), now
            if is_over:
                del self._stages[what]

    def say(self, line: str) -> None:
        with self._lock:
            self._stream.write(f"{line}\n")

    def close(self) -> None:
        """Nothing is left to draw."""


def _size(stream: TextIO) -> dict[str, Any]:
    """How tqdm learns the terminal's size. One whose size nobody has set reports 0 columns."""
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    return {"dynamic_ncols": True} if columns else {"ncols": 80, "nrows": 20}


@contextmanager
def drawn_on(stream: TextIO | None) -> Iterator[Progress]:
    """What draws on a stream until the block ends, also by an error; nothing on None or a closed one."""
    if stream is None or stream.closed:
        yield SILENT
        return
    with closing(ProgressBars(stream) if _is_redrawn(stream) else ProgressLines(stream)) as drawing:
        yield drawing


def _is_redrawn(stream: TextIO) -> bool:
    """Whether a carriage return leads back to the beginning of the line: on a terminal and in a notebook."""
    return type(stream).__module__.startswith("ipykernel.") or stream.isatty()
