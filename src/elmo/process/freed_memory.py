"""What becomes of memory that was freed.

glibc gives a large piece back to the system at once. A training frees and asks for the same tens of megabytes in every
step, and each time the system fills them with zeros, page by page: up to a quarter of a step.
"""

import ctypes
import platform

# glibc's <malloc.h>: how many pieces may come from the system one by one; how much may be free at the end of the heap
# before it is given back; how much more than needed is asked for.
_MMAP_MAX, _TRIM_THRESHOLD, _TOP_PAD = -4, -1, -2
_MOST, _PAD = (1 << 31) - 1, 1 << 26


def keep_freed_memory() -> None:
    """Keeps up to 2 GB of it for what is asked for next, for as long as the process lives; with glibc alone."""
    if platform.libc_ver()[0] != "glibc":
        return
    mallopt = ctypes.CDLL(None).mallopt
    for parameter, value in ((_MMAP_MAX, 0), (_TRIM_THRESHOLD, _MOST), (_TOP_PAD, _PAD)):
        mallopt(parameter, value)
