"""Files that only this program should have written: opened without following links, and checked before use.

A folder that a killed run left may have been changed since: by a copy, a damaged disk, or somebody who put a link to
another file in the place of ours. Nothing is read or written through a link, and nothing is written to a file that has
a second name.
"""

import errno
import hashlib
import os
import stat
from pathlib import Path
from typing import BinaryIO

_BLOCK = 1 << 20
# Without O_NONBLOCK, opening a pipe would wait for somebody at its other end.
_PLAIN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def open_own(path: Path, *, change: bool = False) -> BinaryIO:
    """A regular file that is no link and has no second name, for reading, or for changes in place. Raises OSError."""
    descriptor = os.open(path, (os.O_RDWR if change else os.O_RDONLY) | _PLAIN)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        if status.st_nlink > 1:
            raise OSError(errno.EMLINK, "it has a second name (a hard link)", str(path))
        return os.fdopen(descriptor, "r+b" if change else "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_own(path: Path, limit: int) -> bytes:
    """The content of such a file. Raises OSError, also for more than `limit` bytes."""
    with open_own(path) as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise OSError(errno.EFBIG, f"it has more than {limit:,} bytes", str(path))
    return content


def own_file_hash(path: Path) -> str:
    """SHA-256 (hexadecimal) over the content of such a file."""
    result = hashlib.sha256()
    with open_own(path) as file:
        while block := file.read(_BLOCK):
            result.update(block)
    return result.hexdigest()


def sync_file(path: Path) -> None:
    """Brings a file to the disk."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Brings the names of a folder's files to the disk."""
    if os.name == "nt":  # Windows can't open a folder
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
