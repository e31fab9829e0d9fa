"""The cores, threads and memory of this process."""

import ctypes
import errno
import functools
import math
import os
import platform
from pathlib import Path

IDLE_THREAD_VARIABLES = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
"""Any of them decides how long idle threads spin: the first is OpenMP's own, the others are GCC's and Intel's."""

_SPINS = "1000"
# glibc's <malloc.h>: how many pieces may come from the system one by one; how much may be free at the end of the heap
# before it is given back; how much more than needed is asked for.
_MMAP_MAX, _TRIM_THRESHOLD, _TOP_PAD = -4, -1, -2
_MOST, _PAD = (1 << 31) - 1, 1 << 26
# torch's messages on a CPU (allocator) and on GPUs; the class of the latter is named OutOfMemoryError.
_OUT_OF_MEMORY = ("can't allocate memory", "not enough memory", "out of memory", "bad allocation")


def num_cores() -> int:
    """The cores that this process may keep busy: all, those of `taskset`, or as many as a container's CPU time allows
    (`docker run --cpus`, a limit of Kubernetes; a part of a core counts as one)."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, cores_of_time(Path("/sys/fs/cgroup")) or cores)


@functools.cache
def cores_of_time(control_group: Path) -> int | None:
    """From the limit of CPU time per period, whichever version the control group has; None without a limit.

    Source: the kernel's documentation, cgroup-v2.rst and sched-bwc.rst.
    """
    for names in (["cpu.max"], ["cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"]):
        try:
            quota, period = " ".join((control_group / name).read_text() for name in names).split()
        except (OSError, ValueError):
            continue
        return None if quota in ("max", "-1") else max(1, math.ceil(int(quota) / int(period)))
    return None


def let_idle_threads_sleep() -> None:
    """For this process, if torch is loaded later, and those it starts; not if the user has set one of the variables.

    Between two of torch's operations the threads of libgomp wait in a loop, each on a processor that another program
    may need: about 3 ms unless another time is asked for. Sleeping at once costs a training on an idle machine 40 %
    more time, a hundredth of a millisecond of spinning 6 % (benchmarks/results/idle-threads_*). The library reads these
    variables once, when it is loaded.
    """
    if not any(name in os.environ for name in IDLE_THREAD_VARIABLES):
        os.environ["GOMP_SPINCOUNT"] = _SPINS


def keep_freed_memory() -> None:
    """Keeps up to 2 GB of it for what is asked for next, for as long as the process lives; with glibc alone.

    glibc gives a large piece back to the system at once. A training frees and asks for the same tens of megabytes in
    every step, and each time the system fills them with zeros, page by page: up to a quarter of a step.
    """
    if platform.libc_ver()[0] != "glibc":
        return
    mallopt = ctypes.CDLL(None).mallopt
    for parameter, value in ((_MMAP_MAX, 0), (_TRIM_THRESHOLD, _MOST), (_TOP_PAD, _PAD)):
        mallopt(parameter, value)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory couldn't be allocated: torch reports it as a RuntimeError, Python as a MemoryError, and for a file
    that is mapped as an OSError."""
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    is_torch = isinstance(error, RuntimeError)
    return is_torch and (type(error).__name__ == "OutOfMemoryError" or any(it in str(error) for it in _OUT_OF_MEMORY))
