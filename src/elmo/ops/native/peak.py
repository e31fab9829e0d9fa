"""The processor's measured peak: operations per second by type of the factors, and memory bandwidth."""

import time
from typing import Any, cast

import torch

from elmo.ops import native
from elmo.ops.native.threads import run_together

_ROUNDS = 200_000
_OPERATIONS = {1: 16 * 16 * 2, 2: 16 * 32 * 2, 4: 16 * 64 * 2}


def products_per_second(kind: int, threads: int) -> float:
    """Multiplications and additions, each counted, of `threads` threads; kind 1: float32, 2: bfloat16, 4: int8."""
    library = cast(Any, native.library())
    seconds = _shortest(lambda: run_together([lambda: library.elmo_peak(kind, _ROUNDS)] * threads))
    return threads * _ROUNDS * _OPERATIONS[kind] / seconds


def bytes_per_second(num_bytes: int, threads: int) -> float:
    """Reading that many bytes over and over, each thread its share: of a cache they fit, else of the memory."""
    library = cast(Any, native.library())
    share = max(256, num_bytes // threads // 256 * 256)
    # Ones: nobody gives memory to zeros before they are changed, and reading them would read one page over and over.
    parts = [torch.ones(share, dtype=torch.uint8) for _ in range(threads)]
    times = max(1, (64 << 20) // num_bytes)

    def job(part: torch.Tensor) -> None:
        for _ in range(times):
            library.elmo_read(share, part.data_ptr())

    seconds = _shortest(lambda: run_together([lambda part=part: job(part) for part in parts]))
    return times * share * threads / seconds


def _shortest(work: Any, rounds: int = 5) -> float:
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)
