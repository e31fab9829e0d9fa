"""How many cores this process may use."""

import os


def num_cores() -> int:
    """The cores that this process may run on (`taskset`, containers); where the system doesn't say, those there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
