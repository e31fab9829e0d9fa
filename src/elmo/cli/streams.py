"""Standard streams that may be closed: what a daemon, cron or `>&-` leaves a program with.

Python sets a closed stream to None, which many a function trips over. Worse, the next file that is opened gets the free
descriptor: a library that prints to descriptor 1 or 2 would then print into a result.
"""

import errno
import io
import os
import sys
from contextlib import suppress
from typing import NoReturn, TextIO


class _Closed(io.TextIOBase):
    """Standard output that is closed: results that are written there must not get lost without an error."""

    def write(self, text: str, /) -> NoReturn:
        raise OSError(errno.EBADF, "it is closed")

    def writable(self) -> bool:
        return True


def open_closed_streams() -> None:
    """Gives every closed descriptor to the null device, and every stream that is None an object.

    Standard input stays None: whoever wants to read it says what is wrong. Messages to a closed standard error are
    lost; results for a closed standard output are an OSError.
    """
    for descriptor in range(3):  # in this order: the lowest free one is taken
        try:
            os.fstat(descriptor)
        except OSError:
            with suppress(OSError):
                os.open(os.devnull, os.O_RDWR)
    if sys.stdout is None:
        sys.stdout = _Closed()
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - until the process ends


def to_null_device(stream: TextIO) -> None:
    """Lets what is still to be written to a broken stream go nowhere."""
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
