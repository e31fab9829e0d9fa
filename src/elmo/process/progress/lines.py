"""ProgressLines: progress in a log, a pipe or the output of a queue, where nothing can be redrawn.

With the figures of lines and bars: amounts, speeds, times.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TextIO

from tqdm import tqdm

from elmo.process.progress.report import Progress

# A line follows ten seconds after the one before at the earliest, and less and less often: after a tenth of the time
# that has gone by, which is about one for each ten percent, but within ten minutes, so that a log looks alive.
_SHORTEST_PAUSE = 10.0
_LONGEST_PAUSE = 600.0
_PAUSE_SHARE = 0.1
_YOUNG = 2.0
"""Seconds after which a stage's speed is worth a line."""
_SHORTEST_PACE = 1.0
"""Seconds after the first unit from which a pace means something."""
_WRITTEN_OUT = 10_000
"""Smaller counts are written with all their digits."""
_SLOW = 1.0
"""Units per second; below that, seconds per unit are easier to read."""


def amount(done: int, total: int | None, unit: str) -> str:
    """ "1.20M of 4.00M tokens"; without a total "1.20M tokens"."""
    of_total = "" if total is None else f" of {_count(total, unit)}"
    return f"{_count(done, unit)}{of_total}{'' if unit == 'bytes' else f' {unit}'}"


def speed(per_second: float | None, unit: str) -> str:
    """ "12.3k tokens/s", "3.1 s each"; empty if it is not known yet."""
    if not per_second:
        return ""
    if per_second < _SLOW:
        return f"{duration(1 / per_second)} each" if per_second < 1 / 60 else f"{1 / per_second:.1f} s each"
    if unit == "bytes":
        return f"{tqdm.format_sizeof(per_second)}B/s"
    return f"{tqdm.format_sizeof(per_second) if per_second >= 10 else f'{per_second:.1f}'} {unit}/s"


def duration(seconds: float) -> str:
    """Hours, minutes and seconds: "0:03:47"; also "2 days, 0:03:47"."""
    return str(timedelta(seconds=round(seconds)))


def _count(number: int, unit: str) -> str:
    if unit == "bytes":
        return f"{tqdm.format_sizeof(number)}B"
    return f"{number:,}" if number < _WRITTEN_OUT else tqdm.format_sizeof(number)


class Pace:
    """The speed of one stage, measured from its first unit on.

    The time before, in which models are loaded, would promise hours where seconds are left.
    """

    def __init__(self, done: int) -> None:
        """`done`: what was done when it began."""
        self._begin = done
        self._since: tuple[int, float] | None = None

    def note(self, done: int, now: float) -> None:
        """So much is done now, in seconds of any clock."""
        if self._since is None and done > self._begin:
            self._since = done, now

    def per_second(self, done: int, now: float) -> float | None:
        """Units per second; None: not known yet."""
        if self._since is None:
            return None
        first, began = self._since
        return (done - first) / (now - began) if done > first and now - began >= _SHORTEST_PACE else None


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


@dataclass
class _Stage:
    """A stage under way."""

    began: float
    first: int
    """What was done when it began."""
    done: int
    total: int | None
    unit: str
    note: str
    pace: Pace
    is_written: bool = False
    """Whether the last report was written."""

    def line(self, now: float) -> str:
        percent = "" if not self.total else f"{min(self.done / self.total, 1.0):.0%}, "
        figures = [f"{percent}{amount(self.done, self.total, self.unit)}"]
        if pace := self.pace.per_second(self.done, now):
            figures.append(speed(pace, self.unit))
            if self.total is not None:
                figures.append(f"{duration(max(self.total - self.done, 0) / pace)} left")
        return f"{', '.join(figures)}{'; ' if self.note else ''}{self.note}"

    def last_line(self, now: float) -> str:
        taken = now - self.began
        figures = f"{amount(self.done, None, self.unit)} in {duration(taken)}"
        return f"{figures}, {speed((self.done - self.first) / max(taken, 1e-9), self.unit)}".removesuffix(", ")


class ProgressLines(Progress):
    """Writes a line now and then, and one at the end of each stage; of stages shorter than ten seconds, none."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock`: seconds from any beginning."""
        self._stream, self._clock = LossyStream(stream), clock
        self._stages: dict[str, _Stage] = {}
        self._began = self._written = clock()
        self._lock = threading.RLock()  # a signal handler may report while a report is being written

    def show(self, what: str, done: int, total: int | None, unit: str, note: str = "") -> None:
        with self._lock:
            now = self._clock()
            stage = self._stages.setdefault(what, _Stage(now, done, done, total, unit, note, Pace(done), True))
            if (done, note) != (stage.done, stage.note):
                stage.done, stage.note, stage.is_written = done, note, False
            stage.pace.note(done, now)
            stage.total = total
            if total is not None and done >= total:
                self._end(what, now)
            elif not stage.is_written and now - stage.began >= _YOUNG and now - self._written >= self._pause(now):
                self._write(f"{what}: {stage.line(now)}")
                stage.is_written, self._written = True, now

    def say(self, line: str) -> None:
        with self._lock:
            self._write(line)

    def close(self) -> None:
        with self._lock:
            for what in list(self._stages):
                self._end(what, self._clock())

    def _pause(self, now: float) -> float:
        return min(max(_SHORTEST_PAUSE, _PAUSE_SHARE * (now - self._began)), _LONGEST_PAUSE)

    def _end(self, what: str, now: float) -> None:
        stage = self._stages.pop(what)
        if now - stage.began >= _SHORTEST_PAUSE:
            self._write(f"{what}: {stage.last_line(now)}")
            self._written = now

    def _write(self, line: str) -> None:
        self._stream.write(f"{line}\n")
