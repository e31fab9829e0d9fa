"""NumPy's files of numbers, .npy and .npz, read without trusting their headers.

An array must have as many bytes as its header says. All that is wrong is an `ArraysError`, which callers turn into the
error of their own file.
"""

import zipfile
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from elmo.disk.bounded import open_regular, shown
from elmo.shapes import Shaped

Shape = tuple[int | None, ...]
"""None: any number."""


class ArraysError(ValueError):
    """What is wrong with a file of arrays, without its name: "ends too early"."""


class _Header(NamedTuple):
    dtype: np.dtype
    shape: tuple[int, ...]
    order: str

    @property
    def num_bytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize

    def require(self, dtype: str | None, shape: Shape | None, what: str = "") -> None:
        """ArraysError for another dtype or shape; `what`: its beginning."""
        fits = shape is None or (
            len(shape) == len(self.shape) and all(want in (None, have) for want, have in zip(shape, self.shape))  # noqa: B905
        )
        if not fits or (dtype is not None and self.dtype != np.dtype(dtype)):
            wanted = f"({', '.join('any' if size is None else str(size) for size in shape or ())})"
            raise ArraysError(
                f"{what}holds {self.dtype} of shape {self.shape}, not {dtype or self.dtype}"
                f"{'' if shape is None else f' of shape {wanted}'}"
            )


def mapped(path: Path, dtype: str | None = None, shape: Shape | None = None) -> Shaped[np.ndarray, "*shape"]:
    """The array of an .npy file, read from the disk where it is looked at.

    `dtype`, `shape`: what it must have. Raises ArraysError.
    """
    try:
        with open_regular(path) as file:
            header = _header(file)
            header.require(dtype, shape)
            begin, end = file.tell(), file.seek(0, 2)
            if end - begin != header.num_bytes:
                raise ArraysError(
                    f"has {end - begin:,} bytes of numbers, but its header says {header.dtype} of shape {header.shape}"
                )
            if not header.num_bytes:  # nothing can't be mapped
                return np.zeros(header.shape, header.dtype)
            return np.memmap(file, header.dtype, "r", begin, header.shape, header.order)  # type: ignore[call-overload]
    except OSError as error:
        raise ArraysError(f"can't be read ({error.strerror or error})") from None


def read_npz(file: IO[bytes], shapes: Mapping[str, Shape] | None = None) -> dict[str, np.ndarray]:
    """The arrays of an .npz by name, in memory; `shapes`: the float32 arrays that it must hold, and no others.

    Raises ArraysError.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            arrays = {entry.filename.removesuffix(".npy"): _read(archive, entry) for entry in archive.infolist()}
    except OSError as error:
        raise ArraysError(f"can't be read ({error.strerror or error})") from None
    except Exception as error:  # zipfile, zlib and NumPy raise many kinds for damaged archives
        raise ArraysError(f"is not an .npz file ({error})") from None
    if shapes is not None:
        if sorted(arrays) != sorted(shapes):
            raise ArraysError(f"does not hold the arrays {', '.join(sorted(shapes))}")
        for name, array in arrays.items():
            _Header(array.dtype, array.shape, "C").require("<f4", shapes[name], f"has an array {name} that ")
    return arrays


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> np.ndarray:
    with archive.open(entry) as content:
        found = np.lib.format.read_array(content, allow_pickle=False)
        if content.read(1):  # at the end the archive's own checksum is compared
            raise ValueError(f"{entry.filename} has another number of bytes than its header says")
    return found


def _header(file: IO[bytes]) -> _Header:
    """Reads the header of an .npy file: in version 1.0, as NumPy writes them for all arrays of numbers."""
    try:
        if np.lib.format.read_magic(file) != (1, 0):
            raise ValueError("of another version")
        shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(file)
    except Exception as error:  # a damaged header is no Python, for which NumPy's parser raises many kinds
        raise ArraysError(f"is not a NumPy file ({shown(str(error))})") from None
    if dtype.kind not in "biufc" or min(shape, default=0) < 0:
        raise ArraysError(f"holds {dtype} of shape {shape}, which are no numbers")
    return _Header(dtype, shape, "F" if is_fortran else "C")
