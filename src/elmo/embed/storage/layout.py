"""VectorLayout: shapes and type of the vectors in a file, known before the first one is computed."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from elmo.errors import ConfigError, OutputError, TextError, paths_count_from
from elmo.process.extra_library import extra_library
from elmo.setting_checks import require_value
from elmo.shapes import Float, Int

FileFormat = Literal["hdf5", "parquet", "npy"]
StoredType = Literal["float32", "float16"]

# Beside OUT.npy there are OUT.npy.offsets.npy, OUT.npy.text.jsonl and OUT.npy.metadata.json.
OFFSETS_SUFFIX = ".offsets.npy"
METADATA_SUFFIX = ".metadata.json"
TEXT_SUFFIX = ".text.jsonl"

SENTENCE_INDEX = "sentence_to_index"
"""The dataset of an HDF5 file that has each sentence's row."""

_SUFFIXES: dict[str, FileFormat] = {
    ".hdf5": "hdf5",
    ".h5": "hdf5",
    ".parquet": "parquet",
    ".npy": "npy",
}
_BEGINNINGS: dict[bytes, FileFormat] = {b"\x89HDF": "hdf5", b"PAR1": "parquet", b"\x93NUM": "npy"}


@dataclass(frozen=True)
class VectorLayout:
    """One array for each row; the array of a blank line has no tokens."""

    lengths: Int[np.ndarray, " rows"]
    """Vectors of each row."""
    num_layers: int | None
    """Layers of each array; None: the arrays have no axis of layers."""
    dim: int
    store: StoredType
    """What the numbers are stored as."""
    is_pooled: bool = False
    """Whether a row has a single vector. Arrays have an axis of one token then, which files leave out."""

    @property
    def dtype(self) -> np.dtype:
        """The stored type, little-endian."""
        return np.dtype("<f4" if self.store == "float32" else "<f2")

    @property
    def numbers_per_token(self) -> int:
        """Numbers stored for one token."""
        return (self.num_layers or 1) * self.dim

    @property
    def bytes_per_token(self) -> int:
        """Bytes stored for one token."""
        return self.numbers_per_token * self.dtype.itemsize

    @property
    def num_tokens(self) -> int:
        """Vectors of all rows."""
        return int(self.lengths.sum())

    @property
    def num_bytes(self) -> int:
        """Bytes of all vectors."""
        return self.num_tokens * self.bytes_per_token

    def shape(self, row: int) -> tuple[int, ...]:
        """(layers, tokens, dim) or (tokens, dim) of a row's array."""
        length = int(self.lengths[row])
        return (length, self.dim) if self.num_layers is None else (self.num_layers, length, self.dim)

    def in_file(self, array: Float[np.ndarray, "*layers tokens dim"]) -> Float[np.ndarray, "..."]:
        """The array of a row as a file has it, which of a pooled one is a vector, or one for each layer."""
        return array[..., 0, :] if self.is_pooled else array

    def stored(
        self, array: Float[np.ndarray, "*layers tokens dim"], row: int
    ) -> Float[np.ndarray, "*layers tokens dim"]:
        """The array of a row as it is stored; OutputError if the stored type can't hold a number of it."""
        try:
            with np.errstate(over="raise"):
                return array.astype(self.dtype, copy=False)
        except FloatingPointError:
            raise OutputError(
                f"row {row + 1} has the value {np.abs(array).max():g}, but the largest float16 is 65504. Use --store "
                "float32."
            ) from None


def files_of(output: Path, file_format: FileFormat) -> tuple[Path, ...]:
    """The files that a file of vectors consists of, in the order in which they appear: `output` itself comes last."""
    if file_format != "npy":
        return (output,)
    suffixes = (OFFSETS_SUFFIX, TEXT_SUFFIX, METADATA_SUFFIX)
    return (*(output.with_name(output.name + suffix) for suffix in suffixes), output)


def require_pyarrow(purpose: str) -> Any:
    """pyarrow, with its module for Parquet. Raises MissingExtraError if it is not installed."""
    extra_library("pyarrow.parquet", "data", purpose)
    return extra_library("pyarrow", "data", purpose)


def format_of(path: Path, given: str | None = None) -> FileFormat:
    """The format of a file of vectors: the `given` one, or what its name ends in."""
    if given is not None and path.name:
        require_value("format", given, FileFormat)
        return given  # type: ignore[return-value]
    if path.suffix.lower() not in _SUFFIXES:
        raise ConfigError(
            f"{path}: its ending {path.suffix!r} is not the ending of a vector format. Use one of "
            f"{', '.join(_SUFFIXES)}, or name the format with --to."
        )
    return _SUFFIXES[path.suffix.lower()]


def format_of_file(path: Path, given: str | None = None) -> FileFormat:
    """The format of a file of vectors that is there: the `given` one, or what it begins with, as `--to` writes any
    format under any name; of a file that begins with none of them, what its name ends in. Raises TextError."""
    if not path.is_file():
        raise TextError(f"{path}: there is no such file. {paths_count_from()}; check the spelling.")
    if given is not None:
        return format_of(path, given)
    with path.open("rb") as file:
        start = file.read(4)
    found = _BEGINNINGS.get(start) or _SUFFIXES.get(path.suffix.lower())
    if found is None:
        raise TextError(f"{path}: is neither HDF5 nor npy nor Parquet. Name a file that 'elmo embed' wrote.")
    return found
