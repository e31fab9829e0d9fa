"""Whether an output can be made: asked before the work begins, not after it."""

import errno
import os
import shutil
import stat
from pathlib import Path

from elmo.disk.bounded import NO_LIMIT, kind_of
from elmo.errors import OutputError


def is_disk_full(error: OSError) -> bool:
    """Whether the disk, or this user's share of it, is full."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def free_bytes(folder: Path) -> int:
    """What can still be written to the disk of a folder; without a limit where the file system doesn't say (ramfs)."""
    usage = shutil.disk_usage(folder)
    return usage.free or (0 if usage.total else NO_LIMIT)


def escaped(name: str) -> str:
    """A name in letters that UTF-8 has: the lone surrogates that stand for the bytes of one that is not UTF-8 become
    \\udc80 to \\udcff, as in JSON."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def require_file_or_nothing(output: Path) -> None:
    """OutputError if something else than a regular file bears the name of an output file.

    A folder, a device, a FIFO or a socket is never replaced: a file of that name would take /dev/null away from every
    program of the machine. Links are followed, except those in /dev, such as /dev/stdout.
    """
    try:
        status = output.lstat() if output.parent == Path("/dev") else output.stat()
    except OSError:  # nothing is there, or a link that leads nowhere
        return
    if not stat.S_ISREG(status.st_mode):
        raise OutputError(
            f"{output}: is {kind_of(status)}, which a file never replaces, even by force. Choose another name."
        )


def require_free(output: Path, *, force: bool) -> None:
    """OutputError if something bears the name of an output file and may not be replaced; only a regular file may."""
    require_file_or_nothing(output)
    if not force and os.path.lexists(output):
        raise exists_already(output)


def exists_already(output: Path) -> OutputError:
    """What to raise for an output that may only be replaced by force."""
    return OutputError(f"{output}: exists already. Choose another name, or use --force (force=True) to replace it.")
