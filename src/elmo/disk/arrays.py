"""NumPy's files of numbers, .npy and .npz, read without trusting their headers.

All that is wrong is an `ArraysError`, which callers turn into the
error of their own file.
"""

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import numpy as np

from elmo.disk.bounded import open_regular, shown
from elmo.shapes import Shaped

Shape = tuple[int | None, ...]
"""None: any number."""


class ArraysError(ValueError):
    """What is wrong with a file of arrays, without its name: "ends too early"."""


def mapped(path: Path, dtype: str | None = None, shape: Shape | None = None) -> Shaped[np.ndarray, "*shape"]:
    """The array of an .npy file, read from the disk where it is looked at.

    `dtype`, `shape`: what it must have. Raises ArraysError.
    """
    try:
        with open_regular(path):  # which a FIFO is not; to open that would wait for somebody to write to it
            array = np.lib.format.open_memmap(path, mode="r")
        if path.stat().st_size != array.offset + array.nbytes:
            raise ValueError("it has another number of bytes than its header says")
    except Exception as error:  # a damaged header is no Python, for which NumPy's parser raises many kinds
        raise ArraysError(f"can't be read ({shown(str(error))})") from None
    _require(array, dtype, shape)
    return array


def read_npz(file: IO[bytes], shapes: Mapping[str, Shape] | None = None) -> dict[str, np.ndarray]:
    """The arrays of an .npz by name, in memory; `shapes`: the float32 arrays that it must hold, and no others.

    Raises ArraysError.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            arrays = {entry.filename.removesuffix(".npy"): _read(archive, entry) for entry in archive.infolist()}
    except Exception as error:  # zipfile, zlib and NumPy raise many kinds for damaged archives
        raise ArraysError(f"can't be read as an .npz file ({error})") from None
    if shapes is not None:
        if sorted(arrays) != sorted(shapes):
            raise ArraysError(f"does not hold the arrays {', '.join(sorted(shapes))}")
        for name, array in arrays.items():
            _require(array, "<f4", shapes[name], f"has an array {name} that ")
    return arrays


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> np.ndarray:
    with archive.open(entry) as content:
        found = np.lib.format.read_array(content, allow_pickle=False)
        content.read()  # at the end the archive's own checksum is compared
    return found


def _require(array: np.ndarray, dtype: str | None, shape: Shape | None, what: str = "") -> None:
    """ArraysError for another dtype or shape; `what`: its beginning."""
    fits = shape is None or (
        len(shape) == array.ndim and all(want in (None, have) for want, have in zip(shape, array.shape, strict=True))
    )
    if not fits or (dtype is not None and array.dtype != np.dtype(dtype)):
        wanted = f"({', '.join('any' if size is None else str(size) for size in shape or ())})"
        raise ArraysError(
            f"{what}holds {array.dtype} of shape {array.shape}, not {dtype or array.dtype}"
            f"{'' if shape is None else f' of shape {wanted}'}"
        )
