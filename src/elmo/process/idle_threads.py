"""Idle threads of OpenMP, with which torch computes, sleep soon instead of spinning for long.

Between two of torch's operations the threads of its library (libgomp) wait in a loop that takes a processor each:
about 3 ms unless another time is asked for. Where other programs need the processors, the thread that has work then
waits for those that have none. If they sleep at once, waking them costs a training on an idle machine 40 % more time; a
hundredth of a millisecond of spinning costs it 6 % and saves nearly as much on a busy one
(benchmarks/results/idle-threads_*). The library reads these variables once, when it is loaded.
Source: the manual of GCC's libgomp, "Environment Variables".
"""

import os

VARIABLES = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
"""Any of them decides how long idle threads spin: the first is OpenMP's own, the others are GCC's and Intel's."""


_SPINS = "1000"


def let_idle_threads_sleep() -> None:
    """For this process, if torch is loaded later, and those it starts; not if the user has set one of `VARIABLES`."""
    if not any(name in os.environ for name in VARIABLES):
        os.environ["GOMP_SPINCOUNT"] = _SPINS
