"""Jobs that run in parallel threads: calls of the native library, which release Python's global lock."""

import os
import sys
import threading
from collections.abc import Callable, Sequence

_VARIABLE = "OMP_NUM_THREADS"


def num_threads() -> int:
    """How many threads a computation may use.

    In a program that has loaded torch: torch's number (`torch.set_num_threads`). Else what OMP_NUM_THREADS says, which
    torch reads too, or as many as there are processors for this process.
    """
    torch = sys.modules.get("torch")
    # A module that another thread is still loading has no such function yet.
    if (of_torch := getattr(torch, "get_num_threads", None)) is not None:
        return of_torch()
    said = os.environ.get(_VARIABLE, "").split(",")[0].strip()
    if said.isdecimal() and int(said) > 0:
        return int(said)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_parallel(jobs: Sequence[Callable[[], None]]) -> None:
    """Runs every job in a thread of its own, the first one in this thread; raises what one of them raised.

    Threads are started for each call: that is cheap compared with such work, jobs that wait for each other all run
    regardless of what else the process does, and a forked child has nothing to inherit.
    """
    problems: list[BaseException] = []

    def run(job: Callable[[], None]) -> None:
        try:
            job()
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=run, args=(job,)) for job in jobs[1:]]
    for thread in threads:
        thread.start()
    for job in jobs[:1]:
        run(job)
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]
