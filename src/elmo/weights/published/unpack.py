"""Zip archives of models, opened within limits: an archive may be damaged or hostile like any other file."""

import errno
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from elmo.errors import ElmoError, WeightFileError

MAX_ENTRIES = 64
"""A model has about ten files."""
MAX_RATIO = 200
"""Unpacked bytes for each packed one; float32 weights hardly shrink at all."""

_RATIO_FROM = 1 << 20  # smaller files do no harm, however well they are packed
_BLOCK = 1 << 20


def unpacked_size(archive: Path, *, max_bytes: int) -> int:
    """The bytes of all files in `archive`, as it states them. Raises WeightFileError if it is none or over a limit."""
    with _opened(archive) as opened:
        return sum(entry.file_size for entry in _checked(archive, opened, max_bytes))


def unpack(archive: Path, folder: Path, *, max_bytes: int) -> None:
    """Unpacks the files into the existing, empty `folder`; a single folder around all of them is left out.

    At most `MAX_ENTRIES` files, `max_bytes` in all and `MAX_RATIO` times the packed bytes; names inside `folder`,
    plain files only, each with the checksum that the archive states. Raises WeightFileError.
    """
    with _opened(archive) as opened:
        entries = _checked(archive, opened, max_bytes)
        top = _common_folder([entry.filename for entry in entries])
        for entry in entries:
            target = folder.joinpath(*PurePosixPath(entry.filename).parts[top:])
            target.parent.mkdir(parents=True, exist_ok=True)
            # No more than the stated bytes are read, and at their end the checksum is compared.
            with opened.open(entry) as source, target.open("xb") as file:
                shutil.copyfileobj(source, file, _BLOCK)


@contextmanager
def _opened(archive: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(archive) as opened:
            yield opened
    except ElmoError:
        raise
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise _unsound(archive, error) from None
    except (ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno != errno.EINVAL:  # of the disk, not of a place in the archive
            raise
        raise _unsound(archive, error) from None


def _checked(archive: Path, opened: zipfile.ZipFile, max_bytes: int) -> list[zipfile.ZipInfo]:
    """The files in it, after everything that can be known before unpacking was checked."""
    entries = [entry for entry in opened.infolist() if not entry.is_dir()]
    if len(entries) > MAX_ENTRIES:
        raise _refused(archive, f"it has {len(entries):,} files, a model has at most {MAX_ENTRIES}")
    if (total := sum(entry.file_size for entry in entries)) > max_bytes:
        raise _refused(archive, f"unpacked it has {total:,} bytes, a model has at most {max_bytes:,}")
    names = [entry.filename for entry in entries]
    if len({name.casefold() for name in names}) < len(names):
        raise _refused(archive, "two of its files have the same name")
    for entry in entries:
        _check(archive, entry)
    return entries


def _check(archive: Path, entry: zipfile.ZipInfo) -> None:
    name = entry.filename
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or "\\" in name or ":" in name or "\0" in name:
        raise _refused(archive, f"the name {name[:80]!r} leads out of the folder")
    mode = entry.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        raise _refused(archive, f"{name[:80]!r} is a link or a device, not a file")
    if entry.flag_bits & 1:
        raise _refused(archive, f"{name[:80]!r} is encrypted")
    if entry.file_size > max(_RATIO_FROM, MAX_RATIO * entry.compress_size):
        raise _refused(archive, f"{name[:80]!r} grows more than {MAX_RATIO} times when unpacked")


def _common_folder(names: list[str]) -> int:
    """1 if all files are in one folder, else 0."""
    tops = {PurePosixPath(name).parts[0] for name in names}
    return int(len(tops) == 1 and all(len(PurePosixPath(name).parts) > 1 for name in names))


def _unsound(archive: Path, error: Exception) -> WeightFileError:
    return WeightFileError(f"{archive.name}: is not a valid zip archive: {error}. Get it again.")


def _refused(archive: Path, why: str) -> WeightFileError:
    return WeightFileError(
        f"{archive.name}: is not unpacked: {why}. The archives of published models are not like that: get it from its "
        "publisher."
    )
