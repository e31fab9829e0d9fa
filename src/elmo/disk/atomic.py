"""Atomic writes: a folder or a file appears whole or not at all.

What is written goes to a hidden name beside its place, is brought to the disk, and is renamed in the end. A folder that
is replaced gets a hidden name first; `recover` brings it back where a process died between these two steps. The hidden
name of a process that died is removed by the next one that writes to the same place: a process at work holds a lock on
its hidden folder or file.
"""

import errno
import os
import re
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from elmo.disk.folder_lock import locked
from elmo.disk.output import exists_already, free_bytes, require_file_or_nothing, require_free
from elmo.errors import ElmoError, OutputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

# Headers and small files beside the tensors.
_OVERHEAD_BYTES = 1 << 20
# Between making a hidden folder or file and locking it, or between its replacement by a writer and its renaming.
_SECONDS = 2
_NOT_THERE = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTTY)


@contextmanager
def new_folder(folder: Path, *, size: int, force: bool, replaceable: frozenset[str]) -> Iterator[Path]:
    """A hidden folder to fill; it becomes `folder` when the block ends without error.

    `size`: bytes that will be written, about; the disk must have them free. An existing `folder` is an OutputError
    without `force`; with it, it is replaced if all its entries are named in `replaceable`: a folder that holds anything
    else is never removed.
    """
    folder = Path(os.path.abspath(folder))  # noqa: PTH100 - resolve() would replace what a link points to
    recover(folder)
    _refuse_existing(folder, force, replaceable)
    with _cleaned(folder, size) as temporary:
        temporary.mkdir()
        with locked(temporary, "process"):  # so that others know that one is at work in it
            yield temporary
            for path in sorted(temporary.rglob("*"), reverse=True):  # a folder after what is in it
                sync(path)
            sync(temporary)
            _put_in_place(temporary, folder)


def copied_folder(source: Path, target: Path) -> None:
    """Copies a folder with all that is in it; a `target` of the same entries is replaced."""
    replaceable = frozenset(path.name for path in target.iterdir()) if target.is_dir() else frozenset()
    size = sum(path.stat().st_size for path in source.rglob("*") if path.is_file())
    with new_folder(target, size=size, force=True, replaceable=replaceable) as unfinished:
        for path in sorted(source.rglob("*")):  # a folder before what is in it; contents alone, no permissions
            place = unfinished / path.relative_to(source)
            if path.is_dir():
                place.mkdir()
            else:
                shutil.copyfile(path, place)


@contextmanager
def new_file(path: Path, *, size: int, force: bool) -> Iterator[Path]:
    """A hidden name to write; the file becomes `path` when the block ends without error.

    OutputError if something is there, unless it is a regular file and `force` is set.
    """
    require_free(path, force=force)
    path = Path(os.path.realpath(path))  # a link is written through; a loop of them is replaced
    with _cleaned(path, size) as temporary:
        temporary.touch()
        with locked(temporary, "process"):
            yield temporary
        sync(temporary)
        require_file_or_nothing(path)
        temporary.replace(path)
        sync(path.parent)


def write_file(path: Path, content: bytes, *, force: bool = True) -> None:
    """A file of this content. Raises as `new_file`."""
    with new_file(path, size=len(content), force=force) as unfinished:
        unfinished.write_bytes(content)


def recover(folder: Path) -> bool:
    """Puts a folder back that a process, dying while it replaced it, left under a hidden name; whether it did.

    For the process that writes the folder, before it reports it as missing.
    """
    try:
        left = hidden(folder, "old")
        if not left or os.path.lexists(folder):
            return False
        max(left, key=lambda old: old.stat().st_mtime).rename(folder)
        sync(folder.parent)
    except OSError:
        return False
    return True


def hidden(target: Path, ending: str) -> list[Path]:
    """The temporary paths of `target` with this ending: "unfinished" or "old"."""
    pattern = re.compile(hidden_names(target.name, ending))
    return [path for path in target.parent.iterdir() if pattern.fullmatch(path.name)]


def hidden_names(name: str, ending: str) -> str:
    """A regular expression of the temporary names of a file or folder `name` with this ending: as in `hidden`."""
    return rf"\.{re.escape(name)}\.[0-9a-f]{{12}}\.{ending}"


def sync(path: Path) -> None:
    """Flushes a file's content, or a folder's entries where the file system can, to disk. Raises OSError."""
    is_folder = path.is_dir()
    if os.name == "nt" and is_folder:  # Windows can't open a folder
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if not (is_folder and error.errno in _NOT_THERE):
            raise
    finally:
        os.close(descriptor)


@contextmanager
def _cleaned(target: Path, size: int) -> Iterator[Path]:
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex[:12]}.unfinished")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(target)
        _require_space(target, size)
        yield temporary
    except BaseException as error:
        if temporary.is_dir():
            shutil.rmtree(temporary, ignore_errors=True)
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, ElmoError) or not isinstance(error, OSError):
            raise
        raise OutputError(
            f"{target}: can't be written: {error}. {_space(target, size)} Nothing was left there; free some space, "
            "check the permissions, or choose another place."
        ) from error


def _refuse_existing(folder: Path, force: bool, replaceable: frozenset[str]) -> None:
    if not os.path.lexists(folder):
        return
    if not force:
        raise exists_already(folder)
    others = (
        sorted(entry.name for entry in folder.iterdir() if entry.name not in replaceable) if folder.is_dir() else []
    )
    if others or folder.is_symlink() or not folder.is_dir():
        what = f"holds {others[0]!r}, which is not a file of a model" if others else "is not a plain folder"
        raise OutputError(f"{folder}: {what}, so it is not replaced even by force. Choose another name or remove it.")


def _put_in_place(temporary: Path, folder: Path) -> None:
    if not folder.exists():
        temporary.rename(folder)
        sync(folder.parent)
        return
    old = temporary.with_suffix(".old")
    folder.rename(old)
    try:
        temporary.rename(folder)
    except BaseException:
        old.rename(folder)
        raise
    sync(folder.parent)
    shutil.rmtree(old, ignore_errors=True)


def _remove_leftovers(target: Path) -> None:
    """Removes temporary files and folders left by processes that died while writing or replacing `target`."""
    with suppress(OSError):
        for path in hidden(target, "unfinished"):
            _remove_unheld(path)
        for path in hidden(target, "old") if target.exists() else ():
            _remove_unheld(path)


def _remove_unheld(path: Path) -> None:
    """Removes a folder or file, unless a process holds it or has only just made it."""
    if fcntl is None or time.time() - path.lstat().st_mtime < _SECONDS:
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
    except OSError:  # it is held, or the file system has no locks: nobody can know
        return
    finally:
        os.close(descriptor)


def _require_space(target: Path, size: int) -> None:
    if free_bytes(target.parent) < size + _OVERHEAD_BYTES:
        raise OutputError(
            f"{target}: not enough disk space. {_space(target, size)} Free some space or choose another place."
        )


def _space(target: Path, size: int) -> str:
    try:
        free = shutil.disk_usage(target.parent).free
    except OSError:
        return f"{size + _OVERHEAD_BYTES} bytes are needed."
    return f"{size + _OVERHEAD_BYTES} bytes are needed, {free} are free."
