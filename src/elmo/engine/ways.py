"""Which way of sharing small work between threads is the fastest here: found out by timing it.

Whether a second thread pays for a sentence of ten tokens depends on the processor's caches, on how long a thread takes
to wake up, and on what else the machine does: no rule made elsewhere knows. So a few calls in a row try each way, and
from then on the fastest is taken. All ways give the same bits.

A call that the system interrupts takes many times as long, so medians are compared, and a way with more threads must be
clearly faster. Trying a way again takes a hundredth of the time at most: one that is slow is seldom tried.
"""

import math
import statistics
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence

from elmo.process.thread_lock import ThreadLock

# Calls in a row that try a way. The first is not counted, it has what happens once, unless it is hopeless.
_TRIES = 3
_HOPELESS = 2
# Newest times of a way whose median counts.
_KEPT = 5
# A way with more threads must take less than this share of the time.
_CLEARLY = 0.9
# Of the time that has passed, for trying one way again.
_SHARE = 0.01


class Ways:
    """The times of each way, for each kind of work. Any number of threads may use it at once."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._kinds: dict[Hashable, _Times] = {}
        self._lock = ThreadLock()

    def run(self, kind: Hashable, amount: int, ways: Sequence[Callable[[], None]]) -> None:
        """Does the work in one of the ways, those with fewer threads first. `kind`: whose times can be compared, per
        unit of `amount`.
        """
        with self._lock.mutex:
            times = self._kinds.setdefault(kind, _Times(len(ways)))
            way = times.next(amount)
        begun = self._clock()
        ways[way]()
        seconds = self._clock() - begun
        with self._lock.mutex:
            times.add(way, seconds, amount)


class _Times:
    """The newest times of each way, in seconds per unit of work."""

    def __init__(self, ways: int) -> None:
        self._newest: list[deque[float]] = [deque(maxlen=_KEPT) for _ in range(ways)]
        self._tries = [_TRIES] * ways  # still to be made
        self._since = [0.0] * ways  # seconds that other ways took since this one was tried

    def next(self, amount: int) -> int:
        """The way to take now."""
        for way, tries in enumerate(self._tries):
            if tries:
                return way
        best = self._best()
        for way, seconds in enumerate(self._since):
            if way != best and _SHARE * seconds > _TRIES * self._median(way) * amount:
                self._tries[way] = _TRIES
                return way
        return best

    def add(self, way: int, seconds: float, amount: int) -> None:
        """Records how long a call took."""
        self._since = [0.0 if other == way else since + seconds for other, since in enumerate(self._since)]
        seconds, best = seconds / amount, self._median(self._best())
        if self._tries[way] == _TRIES:
            self._newest[way].clear()
        if self._tries[way] != _TRIES or seconds > _HOPELESS * best:
            self._newest[way].append(seconds)
        if self._tries[way]:
            self._tries[way] = 0 if seconds > _HOPELESS * best else self._tries[way] - 1

    def _best(self) -> int:
        """The fastest; of ways that are about as fast, the one with the fewest threads."""
        best = 0
        for way in range(1, len(self._newest)):
            if self._median(way) < _CLEARLY * self._median(best):
                best = way
        return best

    def _median(self, way: int) -> float:
        return statistics.median(self._newest[way]) if self._newest[way] else math.inf
