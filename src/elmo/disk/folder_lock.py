"""One process at a time works in a folder: the kernel's lock on the folder itself, free again when its holder ends.

Nothing is written. Where the kernel can't lock a folder (Windows, some network file systems), nothing is noticed.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from elmo.errors import OutputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

SECONDS = 5.0
"""How long a process that was just killed, or its workers, may need to end."""


@contextmanager
def locked(folder: Path, holder: str, *, seconds: float | None = None) -> Iterator[int | None]:
    """Holds `folder`, which must be there, as long as the block runs; its descriptor, None where that can't be.

    Processes that get the descriptor hold the folder too, until the last of them ends. `holder`: what works in such a
    folder, for the error. OutputError if another process still holds it after `seconds`; None: `SECONDS`.
    """
    descriptor = None if fcntl is None else os.open(folder, os.O_RDONLY)
    try:
        if descriptor is not None:
            _take(descriptor, folder, holder, SECONDS if seconds is None else seconds)
        yield descriptor
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _take(descriptor: int, folder: Path, holder: str, seconds: float) -> None:
    assert fcntl is not None
    until = time.monotonic() + seconds
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise OutputError(
                    f"{folder}: another {holder} is at work there. Wait until it has ended, or choose another output."
                ) from None
        except OSError:
            return None  # the file system has no locks
        time.sleep(0.05)
