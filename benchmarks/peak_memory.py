"""The peak memory of this process. Loads nothing that would count."""

import re
import resource
import sys
from pathlib import Path


def peak_memory() -> int:
    """Bytes this process has had in memory at most.

    Linux's `getrusage` also counts the process it was forked from, so /proc is asked where there is one.
    """
    try:
        found = re.search(r"^VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"), re.MULTILINE)
    except OSError:
        found = None
    if found:
        return 1024 * int(found[1])
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
