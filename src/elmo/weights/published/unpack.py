"""Zip archives of models, opened within limits: an archive may be damaged or hostile like any other file."""

import errno
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from elmo.errors import ElmoError, WeightFileError

MAX_ENTRIES = 64
"""A model has about ten files."""


def unpacked_size(archive: Path, *, max_bytes: int) -> int:
    """The bytes of all files in `archive`, as it states them. Raises WeightFileError if it is none or over a limit."""
    with _opened(archive) as opened:
        files = [entry for entry in opened.infolist() if not entry.is_dir()]
    size = sum(entry.file_size for entry in files)
    if len(files) > MAX_ENTRIES or size > max_bytes:
        raise WeightFileError(
            f"{archive.name}: is not unpacked: it has {len(files):,} files of {size:,} bytes, a model has at most "
            f"{MAX_ENTRIES} files of {max_bytes:,} bytes. Get the archive from the model's publisher."
        )
    return size


def unpack(archive: Path, folder: Path) -> None:
    """Unpacks the files into the existing, empty `folder`; a single folder around all of them is left out.

    Call `unpacked_size` before. zipfile writes plain files within `folder`, whatever their names say, of no more bytes
    than the archive states for each, and compares their checksums. Raises WeightFileError.
    """
    with _opened(archive) as opened:
        opened.extractall(folder)
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
    except ElmoError:
        raise
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, RuntimeError, OSError) as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):  # of the disk, not of the archive
            raise
        raise WeightFileError(f"{archive.name}: is not a valid zip archive: {error}. Get it again.") from None
