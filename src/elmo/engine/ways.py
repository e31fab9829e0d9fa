"""Which way of sharing small work between threads is the fastest here: found out by timing it.

Whether a second thread pays for a sentence of ten tokens depends on the processor's caches, on how long a thread takes
to wake up, and on what else the machine does: no rule made elsewhere knows. So the first calls try every way in turn,
later ones take the fastest so far, and now and then another is tried again. All ways give the same bits.
"""

import time
from collections.abc import Callable, Hashable, Sequence

from elmo.process.thread_lock import ThreadLock

_TRIES = 3
_AGAIN = 64
# Weight of the newest time in a way's mean: the machine changes.
_NEWEST = 0.25


class Ways:
    """The times of each way, for each kind of work. Any number of threads may use it at once."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._kinds: dict[Hashable, _Times] = {}
        self._lock = ThreadLock()

    def run(self, kind: Hashable, amount: int, ways: Sequence[Callable[[], None]]) -> None:
        """Does the work in one of the ways. `kind`: whose times can be compared, per unit of `amount`."""
        with self._lock.mutex:
            times = self._kinds.setdefault(kind, _Times(len(ways)))
            way = times.next()
        begun = self._clock()
        ways[way]()
        seconds = self._clock() - begun
        with self._lock.mutex:
            times.add(way, seconds / amount)


class _Times:
    """Mean seconds of each way per unit of work; the first of all is left out, it has what happens once."""

    def __init__(self, ways: int) -> None:
        self._means: list[float | None] = [None] * ways
        self._counts = [0] * ways
        self._calls = 0

    def next(self) -> int:
        """The way to take now."""
        self._calls += 1
        fewest = min(self._counts)
        if fewest < _TRIES:
            return self._counts.index(fewest)
        order = sorted(range(len(self._means)), key=lambda way: self._means[way] or 0.0)
        if self._calls % _AGAIN == 0:
            return order[1 + self._calls // _AGAIN % (len(order) - 1)] if len(order) > 1 else order[0]
        return order[0]

    def add(self, way: int, seconds: float) -> None:
        """What it took."""
        self._counts[way] += 1
        mean = self._means[way]
        if self._counts[way] > 1:
            self._means[way] = seconds if mean is None else mean + _NEWEST * (seconds - mean)
