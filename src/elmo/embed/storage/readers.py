"""Readers: a file of vectors -> its arrays, one for each input line, as `embed` gave them."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, overload

import h5py
import numpy as np

from elmo.embed.storage.layout import METADATA_SUFFIX, OFFSETS_SUFFIX, FileFormat, format_of
from elmo.errors import MissingExtraError, TextError


class StoredVectors(Sequence[np.ndarray]):
    """The arrays of a file, read when they are asked for: (layers, tokens, dim) or (tokens, dim), in the stored type.

    Close it, or use it in a `with` statement.
    """

    metadata: dict[str, str]
    """Model hash, layers, state policy, types, tokenizer, version; empty if another program wrote the file."""

    @overload
    def __getitem__(self, line: int) -> np.ndarray: ...
    @overload
    def __getitem__(self, line: slice) -> list[np.ndarray]: ...
    def __getitem__(self, line: Any) -> Any:
        """The array of a line, counted from 0."""
        if isinstance(line, slice):
            return [self._array(place) for place in range(*line.indices(len(self)))]
        place = line + len(self) if line < 0 else line
        if not 0 <= place < len(self):
            raise IndexError(f"line {line} of {len(self)} lines, which count from 0")
        return self._array(place)

    def _array(self, line: int) -> np.ndarray:
        raise NotImplementedError

    def close(self) -> None:
        """Closes the file."""

    def __enter__(self) -> "StoredVectors":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def read_vectors(path: Path | str, format: FileFormat | None = None) -> StoredVectors:
    """Opens what `embed_corpus` or AllenNLP's `elmo` command wrote: HDF5, npy or Parquet.

    `format`: None goes by the name's ending.

    Raises TextError if the file is missing or is none of these, MissingExtraError for Parquet without pyarrow.
    """
    path = Path(path)
    reader = {"hdf5": _Hdf5Vectors, "npy": _NpyVectors, "parquet": _ParquetVectors}[format_of(path, format)]
    if not path.is_file():
        raise TextError(f"{path}: there is no such file. Paths count from {Path.cwd()}; check the spelling.")
    try:
        return reader(path)
    except (OSError, ValueError, KeyError) as error:
        if isinstance(error, TextError | MissingExtraError):
            raise
        raise TextError(f"{path}: is no file of vectors, or damaged: {error}. Embed the text again.") from error


class _Hdf5Vectors(StoredVectors):
    def __init__(self, path: Path) -> None:
        self._file = h5py.File(path, "r")
        self.metadata = {name: str(value) for name, value in self._file.attrs.items()}
        self._length = sum(str(name).isdecimal() for name in self._file)

    def __len__(self) -> int:
        return self._length

    def _array(self, line: int) -> np.ndarray:
        return np.asarray(self._file[str(line)])

    def close(self) -> None:
        self._file.close()


class _NpyVectors(StoredVectors):
    def __init__(self, path: Path) -> None:
        offsets, metadata = (path.with_name(path.name + suffix) for suffix in (OFFSETS_SUFFIX, METADATA_SUFFIX))
        if not offsets.is_file():
            raise TextError(f"{offsets}: is missing, without it the lines of {path} can't be told apart. Copy both.")
        self._offsets = np.load(offsets, allow_pickle=False)
        self._numbers = np.load(path, mmap_mode="r" if self._offsets[-1] else None, allow_pickle=False)
        self.metadata = json.loads(metadata.read_text(encoding="utf-8")) if metadata.is_file() else {}

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def _array(self, line: int) -> np.ndarray:
        numbers = self._numbers[self._offsets[line] : self._offsets[line + 1]]
        return np.array(numbers if numbers.ndim == 2 else numbers.swapaxes(0, 1), order="C")


class _ParquetVectors(StoredVectors):
    def __init__(self, path: Path) -> None:
        try:
            import pyarrow.parquet
        except ModuleNotFoundError as error:
            if error.name is None or not error.name.startswith("pyarrow"):
                raise
            raise MissingExtraError("pyarrow", "data", "reading Parquet") from None
        self._file = pyarrow.parquet.ParquetFile(path)
        facts = self._file.schema_arrow.metadata or {}
        self.metadata = {name.decode(): value.decode() for name, value in facts.items()}
        sizes = [self._file.metadata.row_group(group).num_rows for group in range(self._file.num_row_groups)]
        self._starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        self._group: tuple[int, list[np.ndarray]] = (-1, [])

    def __len__(self) -> int:
        return int(self._starts[-1])

    def _array(self, line: int) -> np.ndarray:
        group = int(np.searchsorted(self._starts, line, side="right")) - 1
        if self._group[0] != group:
            self._group = (group, list(self._read(group)))
        return self._group[1][line - int(self._starts[group])].copy()

    def _read(self, group: int) -> Iterator[np.ndarray]:
        table = self._file.read_row_group(group, columns=["shape", "vectors"]).combine_chunks()
        rows = table["vectors"].combine_chunks()
        numbers = rows.values.flatten().to_numpy(zero_copy_only=False)
        shapes, start = table["shape"].to_pylist(), 0
        for shape in shapes:
            stop = start + int(np.prod(shape))
            array = numbers[start:stop]
            start = stop
            if len(shape) == 3:
                layers, tokens, dim = shape
                yield np.array(array.reshape(tokens, layers, dim).swapaxes(0, 1), order="C")
            else:
                yield array.reshape(shape)

    def close(self) -> None:
        self._file.close()
