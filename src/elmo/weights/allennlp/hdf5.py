"""HDF5 files of plain float arrays, which are not trusted.

Most damaged files load silently. So nothing is read before the file's structure is known to be plain: groups and
datasets by hard links, float32 or float64, wholly stored in the file. Files written here carry a fingerprint of their
arrays; other programs ignore it.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from math import prod
from pathlib import Path

import h5py
import numpy as np

from elmo.disk.bounded import open_regular, readable, understood
from elmo.errors import WeightFileError
from elmo.shapes import Float
from elmo.weights.fingerprint import combine, damaged_values, digest, fingerprint
from elmo.weights.shapes import Shape
from elmo.weights.soundness import finite_float32

SIGNATURE = b"\x89HDF\r\n\x1a\n"

_FINGERPRINT_ATTRIBUTE = "elmo_sha256"
_MEMORY_BLOCK = 1 << 20
# Times its size that a file may have when it is unpacked (trained weights hardly shrink), and what a small one, which
# may pack well, may have beyond that.
_MAX_EXPANSION, _BYTES_BESIDE = 4, 16 << 20


class Hdf5File:
    """An HDF5 file open for reading: `shapes` of its datasets by full name, and their values one by one.

    Every error is a WeightFileError that names the file, and the dataset if one is to blame.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        _require_signature(path)
        with _translated(path):
            self._file = h5py.File(path, "r", locking=False)  # network drives may have no locks
        try:
            with _translated(path):
                self._datasets = _datasets(self._file)
                self._fingerprint = _stored_fingerprint(self._file)
            self._require_plain()
        except BaseException:
            self._file.close()
            raise
        self._digests: dict[str, str] = {}
        self.shapes: dict[str, Shape] = {name: dataset.shape for name, dataset in self._datasets.items()}

    def close(self) -> None:
        """Use it with `contextlib.closing`."""
        self._file.close()

    def array(self, name: str) -> Float[np.ndarray, "..."]:
        """A dataset as float32, own memory. A NaN or an infinity anywhere: WeightFileError."""
        with _translated(self.path, name):
            stored = self._datasets[name][()]
        values = finite_float32(stored, name, str(self.path), "dataset")
        if self._fingerprint is not None:
            self._digests[name] = digest(values)
        return values

    def require_fingerprint(self) -> None:
        """Call it when every dataset was read: WeightFileError if they don't have the fingerprint stored with them."""
        complete = self._digests.keys() == self._datasets.keys()
        if self._fingerprint is not None and complete and combine(self._digests) != self._fingerprint:
            raise damaged_values(self.path)

    def _require_plain(self) -> None:
        size = self.path.stat().st_size
        room = most = _MAX_EXPANSION * size + _BYTES_BESIDE
        for name, dataset in self._datasets.items():
            with _translated(self.path, name):
                chunks = dataset.chunks or dataset.shape
                room -= prod(map(max, dataset.shape, chunks)) * dataset.dtype.itemsize
                reason = _not_plain(dataset)
            if room < 0:
                reason = f"has shape {dataset.shape}: with it the datasets have more than {most:,} bytes, the most "
                reason += f"that are read from a file of {size:,}"
            if reason:
                raise WeightFileError(f"{self.path}: dataset {name!r} {reason}. Get it again from a source you trust.")


def write_hdf5(path: Path, arrays: Mapping[str, Float[np.ndarray, "..."]]) -> None:
    """Writes contiguous float32 datasets by full name, and the fingerprint. Raises OSError."""
    arrays = {name: np.ascontiguousarray(array, dtype=np.float32) for name, array in arrays.items()}
    # In memory first: a disk that fills up while the HDF5 library writes to it leaves the library in a state in which
    # it crashes the process later.
    with h5py.File(path.name, "w", driver="core", backing_store=False, block_size=_MEMORY_BLOCK) as file:
        for name, array in arrays.items():
            file.create_dataset(name, data=array)
        file.attrs[_FINGERPRINT_ATTRIBUTE] = np.bytes_(fingerprint(arrays))
        file.flush()
        image = file.id.get_file_image()
    path.write_bytes(image)


def _require_signature(path: Path) -> None:
    with readable(path, WeightFileError, "Pass the weights as they were published."), open_regular(path) as file:
        begin = file.read(64)
    if not begin.startswith(SIGNATURE):
        raise WeightFileError(f"{path}: is not an HDF5 file, but begins with {begin[:40]!r}. Get the weights again.")


def _datasets(file: h5py.File) -> dict[str, h5py.Dataset]:
    """Every dataset by its full name; links that lead elsewhere aren't followed."""
    found: dict[str, h5py.Dataset] = {}

    def note(name: str, member: h5py.HLObject) -> None:
        if isinstance(member, h5py.Dataset):
            found[name] = member

    file.visititems(note)
    return found


def _not_plain(dataset: h5py.Dataset) -> str | None:
    """Why a dataset is refused, or None. Nothing of its values is read here."""
    if dataset.dtype not in (np.dtype("<f4"), np.dtype("<f8")):
        return f"has type {dataset.dtype}, not little-endian float32 or float64"
    if dataset.is_virtual or dataset.external:
        return "keeps its values in other files"
    # HDF5 reads zeros in the place of what was never written.
    if dataset.chunks is None:
        is_whole = dataset.id.get_storage_size() == dataset.nbytes
    else:
        sizes = zip(dataset.shape, dataset.chunks, strict=True)
        is_whole = dataset.id.get_num_chunks() == prod(-(-length // chunk) for length, chunk in sizes)
    return None if is_whole else f"has shape {dataset.shape}, but the file does not hold all of its values"


def _stored_fingerprint(file: h5py.File) -> str | None:
    if _FINGERPRINT_ATTRIBUTE not in file.attrs:
        return None
    return np.asarray(file.attrs[_FINGERPRINT_ATTRIBUTE]).item().decode("ascii")


def _translated(path: Path, name: str | None = None) -> AbstractContextManager[None]:
    """What h5py raises for a damaged file depends on the damaged byte: OSError, KeyError, RuntimeError and others."""
    where = f"{path}: dataset {name!r}" if name else path
    return understood(where, WeightFileError, "The file is damaged or cut off. Get it again.", Exception)
