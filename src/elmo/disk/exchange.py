"""Exchanging two folders in one step, where the system can: nobody ever sees neither of them."""

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

# linux/fcntl.h and linux/fs.h
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_NOT_THERE = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTTY)


def exchange(one: Path, other: Path) -> bool:
    """Gives each of two existing folders the other's name. False: this system or file system can't.

    Raises OSError for anything else that goes wrong; then nothing has changed.
    """
    rename = _renameat2()
    if rename is None:
        return False
    if rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NOT_THERE:
        return False
    raise OSError(number, os.strerror(number), str(one), None, str(other))


@cache
def _renameat2() -> Callable[..., int] | None:
    """The C library's function; None where there is none (not Linux, or a C library before glibc 2.28)."""
    if sys.platform != "linux":
        return None
    function = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if function is not None:
        function.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
        function.restype = ctypes.c_int
    return function
