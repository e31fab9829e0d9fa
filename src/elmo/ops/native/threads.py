"""Jobs that run in parallel threads: calls of the native library, which release Python's global lock."""

import os
import sys
from _thread import allocate_lock, start_new_thread
from collections.abc import Callable, Sequence

from elmo.process.resources import num_cores

_VARIABLE = "OMP_NUM_THREADS"


def num_threads() -> int:
    """How many threads a computation may use.

    In a program that has loaded torch: torch's number (`torch.set_num_threads`). Otherwise OMP_NUM_THREADS, which torch
    reads too, or the number of processors for this process.
    """
    torch = sys.modules.get("torch")
    # A module that another thread is still loading has no such function yet.
    if (torch_threads := getattr(torch, "get_num_threads", None)) is not None:
        return torch_threads()
    value = os.environ.get(_VARIABLE, "").split(",")[0].strip()
    if value.isdecimal() and int(value) > 0:
        return int(value)
    return num_cores()


def run_parallel(jobs: Sequence[Callable[[], None]], leave: Callable[[int], None] = lambda rank: None) -> None:
    """Runs every job in a thread of its own, the first one in this thread; raises what one of them raised.

    `leave`: called with the number of a job that was cut off or never began (Ctrl-C, no memory, no more threads), and
    must see to it that no other job waits for that one.

    Threads are started for each call: that is cheap compared with such work, jobs that wait for each other all run
    regardless of what else the process does, and a forked child has nothing to inherit. They are started by `_thread`,
    because `threading` waits for a thread's beginning in Python code: Ctrl-C there leaves a lock taken, without which
    the thread never begins and the process never ends.
    """
    problems: list[BaseException] = []

    def run(rank: int) -> None:
        try:
            jobs[rank]()
        except BaseException as error:
            leave(rank)
            problems.append(error)

    def run_in_thread(rank: int) -> None:
        try:
            run(rank)
        finally:
            running[rank - 1].release()

    running = [allocate_lock() for _ in jobs[1:]]
    for lock in running:
        lock.acquire()
    begun = 0
    try:
        for begun in range(len(running)):
            start_new_thread(run_in_thread, (begun + 1,))
        begun = len(running)
        if jobs:
            run(0)
    except BaseException:
        for rank in (0, *range(begun + 1, len(jobs))):
            leave(rank)
        raise
    for lock in running:
        lock.acquire()
    if problems:
        raise problems[0]
