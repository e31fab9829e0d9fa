"""Which variant of sharing small work between threads is the fastest here: found out by timing them.

Whether a second thread is worth it for a sentence of ten tokens depends on the processor's caches, on how long a thread
takes to wake up, and on what else the machine does: no rule made elsewhere knows. So a few calls in a row try each
variant, and from then on the fastest is taken. All variants give the same bits.

A call that the system interrupts takes many times as long, so medians are compared, and a variant with more threads
must be clearly faster. Trying one again takes a hundredth of the time at most: one that is slow is seldom tried.
"""

import math
import statistics
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence

from elmo.process.thread_lock import ThreadLock

# Calls in a row that try a variant. The first is not counted, it has what happens once, unless it is hopeless.
_TRIES = 3
_HOPELESS = 2
# Newest times of a variant whose median counts.
_KEPT = 5
# A variant with more threads must take less than this share of the time.
_CLEARLY = 0.9
# Of the time that has passed, for trying one variant again.
_SHARE = 0.01


class Autotuner:
    """The times of each variant, for each kind of work. Any number of threads may use it at once."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._kinds: dict[Hashable, _Times] = {}
        self._lock = ThreadLock()

    def run(self, kind: Hashable, amount: int, variants: Sequence[Callable[[], None]]) -> None:
        """Does the work in one of the variants, those with fewer threads first.

        `kind`: of work whose times can be compared, per unit of `amount`.
        """
        with self._lock.mutex:
            times = self._kinds.setdefault(kind, _Times(len(variants)))
            variant = times.next(amount)
        begun = self._clock()
        variants[variant]()
        seconds = self._clock() - begun
        with self._lock.mutex:
            times.add(variant, seconds, amount)


class _Times:
    """The newest times of each variant, in seconds per unit of work."""

    def __init__(self, variants: int) -> None:
        self._newest: list[deque[float]] = [deque(maxlen=_KEPT) for _ in range(variants)]
        self._tries = [_TRIES] * variants  # still to be made
        self._since = [0.0] * variants  # seconds that other variants took since this one was tried

    def next(self, amount: int) -> int:
        for variant, tries in enumerate(self._tries):
            if tries:
                return variant
        best = self._best()
        for variant, seconds in enumerate(self._since):
            if variant != best and _SHARE * seconds > _TRIES * self._median(variant) * amount:
                self._tries[variant] = _TRIES
                return variant
        return best

    def add(self, variant: int, seconds: float, amount: int) -> None:
        self._since = [0.0 if other == variant else since + seconds for other, since in enumerate(self._since)]
        seconds, best = seconds / amount, self._median(self._best())
        if self._tries[variant] == _TRIES:
            self._newest[variant].clear()
        if self._tries[variant] != _TRIES or seconds > _HOPELESS * best:
            self._newest[variant].append(seconds)
        if self._tries[variant]:
            self._tries[variant] = 0 if seconds > _HOPELESS * best else self._tries[variant] - 1

    def _best(self) -> int:
        """The fastest; of variants that are about as fast, the one with the fewest threads."""
        best = 0
        for variant in range(1, len(self._newest)):
            if self._median(variant) < _CLEARLY * self._median(best):
                best = variant
        return best

    def _median(self, variant: int) -> float:
        return statistics.median(self._newest[variant]) if self._newest[variant] else math.inf
