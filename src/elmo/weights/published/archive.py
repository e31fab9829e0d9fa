"""Zip archives of models, which may be damaged or hostile like any other: unpacked within limits."""

import errno
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from elmo.errors import WeightFileError
from elmo.weights.catalogue import MAX_BYTES

MAX_ENTRIES = 64
"""Files of an archive: a model has about ten."""
MAX_EXPANSION = 20
"""Times its own size that an archive may be unpacked to: weights hardly shrink, word lists to a fifth."""

_OF_MACOS = "__MACOSX/"


def unpacked_size(archive: Path) -> int:
    """The bytes of all files in `archive`, as it states them. Raises WeightFileError if it is none or over a limit."""
    with _opened(archive) as opened:
        files = [entry for entry in opened.infolist() if not entry.is_dir()]
    size, most = sum(entry.file_size for entry in files), min(MAX_BYTES, MAX_EXPANSION * archive.stat().st_size)
    if len(files) > MAX_ENTRIES or size > most:
        raise WeightFileError(
            f"{archive.name}: has {len(files):,} files of {size:,} bytes, a model's archive of its size at most "
            f"{MAX_ENTRIES} of {most:,}. Get it from the model's publisher."
        )
    return size


def unpack(archive: Path, folder: Path) -> None:
    """Unpacks the files into the existing, empty `folder`; a single folder around all of them is left out, and so is
    what macOS puts beside it.

    Call `unpacked_size` before. zipfile writes plain files within `folder`, whatever their names say, of no more bytes
    than the archive states for each, and compares their checksums. Raises WeightFileError.
    """
    with _opened(archive) as opened:
        opened.extractall(folder, [name for name in opened.namelist() if not name.startswith(_OF_MACOS)])
    inside = list(folder.iterdir())
    if len(inside) == 1 and inside[0].is_dir():
        outer = inside[0].rename(folder / f"{archive.name}.folder")  # a file in it may have the folder's name
        for path in list(outer.iterdir()):
            path.rename(folder / path.name)
        outer.rmdir()


@contextmanager
def _opened(archive: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(archive) as opened:
            yield opened
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, RuntimeError, OSError) as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):  # of the disk, not of the archive
            raise
        raise WeightFileError(f"{archive.name}: is not a valid zip archive: {error}. Get it again.") from None
