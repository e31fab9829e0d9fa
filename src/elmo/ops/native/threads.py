"""Work for several threads at once: calls of the native library, which let other Python threads go on."""

import threading
from collections.abc import Callable, Sequence

import torch


def num_threads() -> int:
    """How many threads a computation may use: as many as torch's own."""
    return torch.get_num_threads()


def run_together(jobs: Sequence[Callable[[], None]]) -> None:
    """Runs every job in a thread of its own, the first one in this thread; raises what one of them raised.

    Threads are made anew each time: it takes little beside any such work, jobs that wait for each other all run
    whatever else the process does, and a forked child has nothing to inherit.
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
