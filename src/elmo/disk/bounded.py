"""Bounded reads: a small file is read whole, but never without end.

A model folder may come from anywhere. What has a file's name there can be a device that never ends, a FIFO that nobody
writes to, or a file of many gigabytes. Every file that is read whole is read here.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from elmo.errors import ElmoError

LIMITS_VARIABLE = "ELMO_NO_LIMITS"
"""Environment variable: 1 lifts every limit on what is read, of files that are read whole and of texts."""
NO_LIMIT = 1 << 60

_KINDS = {
    stat.S_IFIFO: "a FIFO (named pipe)",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a folder",
    stat.S_IFLNK: "a link of the system",
}


def read_bytes(path: Path, *, limit: int) -> bytes:
    """The content of a regular file of at most `limit` bytes, or of any number with ELMO_NO_LIMITS=1.

    Raises OSError, whose `strerror` says what is wrong: also for what is not a regular file, and for more bytes.
    """
    limit = limit_now(limit)
    with open_regular(path) as file:
        content = file.read() if limit == NO_LIMIT else file.read(limit + 1)
    if len(content) > limit:
        reason = f"it has more than {limit:,} bytes, the limit for such a file (set {LIMITS_VARIABLE}=1 to read more)"
        raise OSError(errno.EFBIG, reason, str(path))
    return content


def open_regular(path: Path) -> BufferedReader:
    """The file, open for reading. OSError unless it is a regular one."""
    # Without O_NONBLOCK, opening a FIFO waits for somebody to write to it. It means nothing for regular files.
    flags = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, os.O_RDONLY | flags)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, f"it is {kind_of(status)}, not a file", str(path))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


@contextmanager
def readable(path: Path | str, kind: type[ElmoError], step: str) -> Iterator[None]:
    """Errors of the file system (missing, not permitted, a name too long) become one of `kind` with the next `step`."""
    try:
        yield
    except OSError as error:
        if isinstance(error, ElmoError):
            raise
        is_missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        what = "there is no such file" if is_missing else f"can't be read: {error.strerror or error}"
        raise kind(f"{path}: {what}. {step}") from None


@contextmanager
def understood(path: Path | str, kind: type[ElmoError], step: str, *others: type[Exception]) -> Iterator[None]:
    """What Python raises where a file's content is not what it must be (a missing key, another type), and what `others`
    a library raises, becomes an error of `kind` that names the file, with the next `step`."""
    try:
        yield
    except kind:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, *others) as error:
        problem = f"{error} is missing or unknown" if isinstance(error, KeyError) else f"{error}".rstrip(".")
        raise kind(f"{path}: can't be used: {problem}. {step}") from None


def kind_of(status: os.stat_result) -> str:
    """What bears a name and is not a regular file: "a socket"."""
    return _KINDS.get(stat.S_IFMT(status.st_mode), "no regular file")


def file_hash(*paths: Path) -> str:
    """SHA-256 (hexadecimal) over the content of regular files, one after the other, however long. Raises OSError."""
    result = hashlib.sha256()
    for path in paths:
        with open_regular(path) as file:
            hashlib.file_digest(file, lambda: result)
    return result.hexdigest()


def is_file(path: Path) -> bool:
    """Whether this is a regular file; links are followed. False for a name too long for the file system."""
    return os.path.isfile(path)  # noqa: PTH113 - Path.is_file raises OSError


def limit_now(limit: int) -> int:
    """The limit, or `NO_LIMIT` with ELMO_NO_LIMITS=1."""
    return NO_LIMIT if os.environ.get(LIMITS_VARIABLE) == "1" else limit


def shown(value: object, length: int = 60) -> str:
    """`repr` of a value from a file, short enough for an error message: a hostile file's may have megabytes."""
    text = repr(value)
    return text if len(text) <= length else f"{text[: length - 3]}..."
