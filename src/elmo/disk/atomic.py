"""Atomic writes: a folder or a file appears whole or not at all.

What is written goes to a hidden name beside its place, is brought to the disk, and is renamed in the end. Whatever
goes wrong before, nothing is left behind and what stood there before is untouched.
"""

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from elmo.errors import ElmoError, OutputError

# Headers and small files beside the tensors.
_OVERHEAD_BYTES = 1 << 20


@contextmanager
def new_folder(folder: Path, *, size: int, force: bool, replaceable: frozenset[str]) -> Iterator[Path]:
    """A hidden folder to fill; it becomes `folder` when the block ends without error.

    `size`: bytes that will be written, about. An existing `folder` is an OutputError without `force`; with it, it is
    replaced if all its entries are named in `replaceable`: a folder that holds anything else is never removed.
    """
    folder = Path(os.path.abspath(folder))  # noqa: PTH100 - resolve() would replace what a link points to
    _refuse_existing(folder, force, replaceable)
    with _cleaned(folder, size) as temporary:
        temporary.mkdir()
        yield temporary
        for path in sorted(temporary.rglob("*"), reverse=True):  # a folder after what is in it
            _to_disk(path)
        _to_disk(temporary)
        _put_in_place(temporary, folder)


def copied_folder(source: Path, target: Path) -> None:
    """Copies a folder with all that is in it; a `target` of the same entries is replaced."""
    replaceable = frozenset(path.name for path in target.iterdir()) if target.is_dir() else frozenset()
    size = sum(path.stat().st_size for path in source.rglob("*") if path.is_file())
    with new_folder(target, size=size, force=True, replaceable=replaceable) as unfinished:
        shutil.copytree(source, unfinished, dirs_exist_ok=True)


@contextmanager
def new_file(path: Path, *, size: int, force: bool) -> Iterator[Path]:
    """A hidden name to write; the file becomes `path` when the block ends without error."""
    path = Path(os.path.abspath(path))  # noqa: PTH100 - as above
    if path.is_dir() or (path.exists() and not force):
        raise OutputError(f"{path}: exists already. Choose another name, or use --force (force=True) to replace it.")
    with _cleaned(path, size) as temporary:
        yield temporary
        _to_disk(temporary)
        temporary.replace(path)
        _to_disk(path.parent)


@contextmanager
def _cleaned(target: Path, size: int) -> Iterator[Path]:
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex[:12]}.unfinished")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
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
    if not folder.exists() and not folder.is_symlink():
        return
    if not force:
        raise OutputError(f"{folder}: exists already. Choose another name, or use --force (force=True) to replace it.")
    others = (
        sorted(entry.name for entry in folder.iterdir() if entry.name not in replaceable) if folder.is_dir() else []
    )
    if others or folder.is_symlink() or not folder.is_dir():
        what = f"holds {others[0]!r}, which is no file of a model" if others else "is not a plain folder"
        raise OutputError(f"{folder}: {what}, so it is not replaced even by force. Choose another name or remove it.")


def _put_in_place(temporary: Path, folder: Path) -> None:
    old = temporary.with_suffix(".old")
    if folder.exists():
        folder.rename(old)
    try:
        temporary.rename(folder)
    except BaseException:
        if old.exists():
            old.rename(folder)
        raise
    _to_disk(folder.parent)
    shutil.rmtree(old, ignore_errors=True)


def _to_disk(path: Path) -> None:
    if os.name == "nt" and path.is_dir():  # Windows can't open a folder
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _require_space(target: Path, size: int) -> None:
    if shutil.disk_usage(target.parent).free < size + _OVERHEAD_BYTES:
        raise OutputError(f"{target}: not enough disk. {_space(target, size)} Free some space or choose another place.")


def _space(target: Path, size: int) -> str:
    try:
        free = shutil.disk_usage(target.parent).free
    except OSError:
        return f"{size + _OVERHEAD_BYTES} bytes are needed."
    return f"{size + _OVERHEAD_BYTES} bytes are needed, {free} are free."
