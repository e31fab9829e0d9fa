"""ProgressLines: progress in a log, a pipe or the output of a queue, where nothing can be redrawn."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

from elmo.process.progress.pace import Pace
from elmo.process.progress.report import Progress
from elmo.process.progress.stream import LossyStream
from elmo.process.progress.texts import amount, duration, speed

# A line follows ten seconds after the one before at the earliest, and less and less often: after a tenth of the time
# that has gone by, which is about one for each ten percent, but within ten minutes, so that a log looks alive.
_SHORTEST_PAUSE = 10.0
_LONGEST_PAUSE = 600.0
_PAUSE_SHARE = 0.1
_YOUNG = 2.0
"""Seconds after which a stage's speed is worth a line."""


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
    """Whether a line says what the last report said."""

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
        """A line if it is time for one."""
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
        """The line, at once."""
        with self._lock:
            self._write(line)

    def close(self) -> None:
        """The operation is over, perhaps before its end."""
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
