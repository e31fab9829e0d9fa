"""The processor's measured peak: operations per second by type of the factors, and memory bandwidth.

A measurement takes seconds, not fractions of a millisecond: all threads wait at a barrier until the last one is there,
work for a quarter of a second, and the best of several rounds counts. Over a shorter time two threads seldom overlap,
and seem slower together than one alone.
"""

import threading
import time
from collections.abc import Callable

import numpy as np

from elmo.ops import native
from elmo.ops.native.kinds import KINDS, ComputeType

_SECONDS = 0.25
_FIRST_ROUNDS = 100_000
_REPEATS = 16
_TRIES = 4


def products_per_second(dtype: ComputeType, threads: int, tries: int) -> float:
    """Multiplications and additions, each counted, of `threads` threads.

    The best of `tries` rounds of a quarter of a second.
    """
    library, kind = native.required_library(), KINDS[dtype]
    rounds = _FIRST_ROUNDS
    alone = _together(lambda: library.peak(kind, rounds), 1)
    rounds = max(1, round(rounds * _SECONDS / alone))
    duration = min(_together(lambda: library.peak(kind, rounds), threads) for _ in range(tries))
    return threads * rounds * library.peak_operations(kind) / duration


def bytes_per_second(num_bytes: int, threads: int) -> float:
    """Reading that many bytes over and over, each thread its share: from a cache if they fit, else from memory."""
    library = native.required_library()
    share = max(256, num_bytes // threads // 256 * 256)
    # Ones: the system gives no memory to zeros before they are changed; reading them would read one page repeatedly.
    parts = [np.ones(share, dtype=np.uint8) for _ in range(threads)]
    places = iter(parts * (1 + _TRIES))

    def read(times: int) -> None:
        place = next(places)
        for _ in range(times):
            library.read(place)

    alone = _together(lambda: read(_REPEATS), threads) / _REPEATS
    times = max(1, round(_SECONDS / alone))
    return times * share * threads / min(_together(lambda: read(times), threads) for _ in range(_TRIES))


def _together(work: Callable[[], object], threads: int) -> float:
    """Seconds from the moment that all threads are ready until the last one has finished."""
    begun: list[float] = []
    barrier = threading.Barrier(threads, action=lambda: begun.append(time.perf_counter()))

    def run() -> None:
        barrier.wait()
        work()

    others = [threading.Thread(target=run) for _ in range(threads - 1)]
    for thread in others:
        thread.start()
    run()
    for thread in others:
        thread.join()
    return time.perf_counter() - begun[0]
