"""Whether an output can be made: asked before the work begins, not after it."""

import errno
import os
import shutil
import stat
from pathlib import Path

from elmo.disk.bounded import NO_LIMIT, kind_of, shown
from elmo.errors import OutputError

# Of 255, without what is added while an output is written: .OUT.0123456789ab.unfinished, OUT.metadata.json.
_LONGEST_NAME = 229


def is_disk_full(error: OSError) -> bool:
    """Whether the disk, or this user's share of it, is full."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def require_possible(output: Path) -> None:
    """OutputError unless a file or folder of that name could be made: in a folder that this user may write to."""
    if len(os.fsencode(output.name)) > _LONGEST_NAME:
        raise OutputError(
            f"{shown(output.name)} can't be the name of an output: it has more than {_LONGEST_NAME} bytes, and files "
            "with longer names are beside it while it is written. Choose a shorter name."
        )
    parent = next(folder for folder in output.absolute().parents if folder.exists())
    if not parent.is_dir():
        raise OutputError(f"{output}: can't be made, because {parent} is not a folder. Choose another path.")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise OutputError(
            f"{output}: can't be made, because this user may not write to the folder {parent}. Change its permissions "
            "('ls -ld' shows them), or choose another path."
        )


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
    if stat.S_ISDIR(status.st_mode):
        raise OutputError(f"{output}: is a folder, but a file would be written. Name a file in it.")
    if not stat.S_ISREG(status.st_mode):
        raise OutputError(
            f"{output}: is {kind_of(status)}, which is never replaced by a file, not even by force. Choose another "
            "name."
        )


def require_free(output: Path, *, force: bool) -> None:
    """OutputError if something bears the name of an output file and may not be replaced; only a regular file may."""
    require_file_or_nothing(output)
    if not force and os.path.lexists(output):
        raise exists_already(output)


def exists_already(output: Path) -> OutputError:
    """What to raise for an output that may only be replaced by force."""
    return OutputError(f"{output}: exists already. Choose another name, or use --force (force=True) to replace it.")
