"""Readers: a file of vectors -> its arrays, one for each row, as `embed` gave them."""

import json
import os
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import h5py
import numpy as np

from elmo.disk.arrays import ArraysError, mapped
from elmo.disk.bounded import understood
from elmo.disk.json_file import read_record
from elmo.embed.results.output import by_token, objects, require_pandas
from elmo.embed.storage.layout import (
    METADATA_SUFFIX,
    OFFSETS_SUFFIX,
    SENTENCE_INDEX,
    TEXT_SUFFIX,
    FileFormat,
    format_of_file,
    require_pyarrow,
)
from elmo.embed.storage.text_columns import StoredRow, dataset, read_hdf5, read_protein, row_of_arrow, row_of_json
from elmo.errors import TextError
from elmo.process.thread_lock import ThreadLock
from elmo.shapes import Float

if TYPE_CHECKING:
    import pandas

_TEXT_COLUMNS = ("id", "line", "sentence", "file", "tokens", "starts", "ends")


def _damage_told(path: Path) -> AbstractContextManager[None]:
    """Makes a TextError of what a library raises at a damaged file."""
    return understood(
        path, TextError, "It is no file of vectors, or damaged. Embed the text again.", OSError, RuntimeError
    )


class StoredVectors(Sequence[np.ndarray]):
    """The arrays of a file, read when they are asked for: (layers, tokens, dim) or (tokens, dim), in the stored type;
    of pooled vectors (layers, dim) or (dim,).

    `vectors[0]` is the array of the first row, `vectors.row(0)` has the tokens that it belongs to and their places in
    the text, and `vectors.to_pandas()` joins both. Close it, or use it in a `with` statement.
    """

    path: Path
    metadata: dict[str, str]
    """Model hash, layers, state policy, types, tokenizer, version; empty if another program wrote the file."""

    def __repr__(self) -> str:
        facts = [f"{name} {self.metadata[name]}" for name in ("layers", "dim", "store") if name in self.metadata]
        return f"<{type(self).__name__} {str(self.path)!r}: {', '.join([f'{len(self):,} rows', *facts])}>"

    @overload
    def __getitem__(self, row: int) -> Float[np.ndarray, "... dim"]: ...
    @overload
    def __getitem__(self, row: slice) -> list[Float[np.ndarray, "... dim"]]: ...
    def __getitem__(self, row: Any) -> Any:
        """The array of a row, counted from 0."""
        if isinstance(row, slice):
            return [self[place] for place in range(*row.indices(len(self)))]
        place = self._row(row)
        with _damage_told(self.path):
            return self._array(place)

    @property
    def is_pooled(self) -> bool:
        """Whether a row has one vector, not one for each token."""
        return "pool" in self.metadata

    def row(self, row: int) -> StoredRow:
        """The tokens of a row, counted from 0, their spans, and its line and sentence in the text.

        TextError if the file has no text, as AllenNLP's files; IndexError if the row doesn't exist.
        """
        place = self._row(row)
        with _damage_told(self.path):
            found = self._text(place)
        if found is None:
            raise TextError(
                f"{self.path}: holds vectors, but not the tokens that they belong to: another program wrote it, or an "
                "older version of this one. Embed the text again to have both."
            )
        return found

    def to_pandas(self) -> "pandas.DataFrame":
        """A row for each token, all in memory.

        Columns: `row` (from 0), `id` (of a protein), `line` and `sentence` (from 1), `position` (in the sentence, from
        0), `token` (if the file has the words), `start` and `end` (characters in the line), `vector`, an array (dim,)
        or (layers, dim). Pooled: a row for each sentence, without those of tokens.
        Raises MissingExtraError without pandas, TextError for a file without the text.
        """
        pandas = require_pandas("to_pandas()")
        rows = [self.row(row) for row in range(len(self))]
        ids = {"id": objects(row.id for row in rows)} if any(row.id for row in rows) else {}
        if self.is_pooled:
            places = {"line": [row.line for row in rows], "sentence": [row.sentence for row in rows]}
            return pandas.DataFrame({"row": np.arange(len(rows)), **ids, **places, "vector": objects(self)})
        lengths = [len(row.spans) for row in rows]
        spans = np.concatenate([row.spans for row in rows] or [np.empty((0, 2), np.int64)])
        columns: dict[str, Any] = {
            "row": np.repeat(np.arange(len(rows)), lengths),
            **{name: np.repeat(values, lengths) for name, values in ids.items()},
            "line": np.repeat([row.line for row in rows], lengths),
            "sentence": np.repeat([row.sentence for row in rows], lengths),
            "position": np.concatenate([np.arange(length) for length in lengths] or [np.arange(0)]),
        }
        if any(row.tokens for row in rows):
            columns["token"] = objects(token for row in rows for token in row.tokens)
        columns |= {"start": spans[:, 0], "end": spans[:, 1]}
        columns["vector"] = objects(vector for array in self for vector in by_token(array))
        return pandas.DataFrame(columns)

    def _row(self, row: int) -> int:
        """A row counted from 0, from one that may be counted from the end. Raises IndexError if there is none."""
        if not -len(self) <= row < len(self):
            raise IndexError(f"there is no row {row}: the file has {len(self)} rows, counted from 0")
        return row % len(self)

    @abstractmethod
    def _array(self, row: int) -> Float[np.ndarray, "... dim"]:
        """The array of a row that there is."""

    @abstractmethod
    def _text(self, row: int) -> StoredRow | None:
        """The text of a row that there is, if the file has it."""

    def close(self) -> None:
        """Closes the file."""

    def __enter__(self) -> "StoredVectors":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def read_vectors(path: Path | str, format: FileFormat | None = None) -> StoredVectors:
    """Opens what `embed_corpus` or AllenNLP's `elmo` command wrote: HDF5, npy or Parquet.

    `format`: None goes by what the file begins with, or else by its name's ending.

    Raises TextError if the file is missing or is none of these, MissingExtraError for Parquet without pyarrow.
    """
    path = Path(path)
    reader = {"hdf5": _Hdf5Vectors, "npy": _NpyVectors, "parquet": _ParquetVectors}[format_of_file(path, format)]
    with _damage_told(path):
        return reader(path)


class _Hdf5Vectors(StoredVectors):
    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = h5py.File(path, "r", locking=False)  # network drives may have no locks
        self.metadata = {name: str(value) for name, value in self._file.attrs.items()}
        # Of proteins, in their order.
        self._names = list(map(str, self._file)) if self.metadata.get("rows") == "ids" else None
        self._length = len(self._names or [name for name in self._file if str(name).isdecimal()])
        if len(self._file) and not self.metadata and "0" not in self._file and SENTENCE_INDEX not in self._file:
            raise ValueError("its datasets are not named 0, 1, 2 and so on")

    def __len__(self) -> int:
        return self._length

    def _dataset(self, row: int) -> h5py.Dataset:
        if not self._file:
            raise TextError(f"{self.path}: was closed. Open it again with read_vectors.")
        return dataset(self._file, str(row) if self._names is None else self._names[row])

    def _array(self, row: int) -> Float[np.ndarray, "... dim"]:
        return np.asarray(self._dataset(row))

    def _text(self, row: int) -> StoredRow | None:
        if self._names is None:
            return read_hdf5(self._file, row)
        return read_protein(self._dataset(row), json.loads(self.metadata.get("files", "[]")))

    def close(self) -> None:
        self._file.close()


class _NpyVectors(StoredVectors):
    def __init__(self, path: Path) -> None:
        self.path = path
        suffixes = (OFFSETS_SUFFIX, METADATA_SUFFIX, TEXT_SUFFIX)
        offsets, metadata, self._text_file = (path.with_name(path.name + suffix) for suffix in suffixes)
        self._numbers = mapped(path)
        self._offsets = np.array(mapped(offsets, "int64", (None,)))
        steps = np.diff(self._offsets, prepend=0, append=len(self._numbers))
        if not len(self._offsets) or self._offsets[0] or (steps < 0).any() or steps[-1]:
            raise ArraysError(f"its {len(self._numbers):,} vectors don't match the rows in {offsets}")
        self.metadata = read_record(metadata) if metadata.is_file() else {}
        self._files = json.loads(self.metadata.get("files", "[]"))
        self._text_places: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def _array(self, row: int) -> Float[np.ndarray, "... dim"]:
        if self.is_pooled:
            return np.array(self._numbers[row])
        numbers = self._numbers[self._offsets[row] : self._offsets[row + 1]]
        return np.array(numbers if numbers.ndim == 2 else numbers.swapaxes(0, 1), order="C")

    def _text(self, row: int) -> StoredRow | None:
        if not self._text_file.is_file():
            return None
        with self._text_file.open("rb") as file:
            if self._text_places is None:
                self._text_places = np.cumsum([0, *map(len, file)])
            if len(self._text_places) != len(self) + 1:
                raise TextError(
                    f"{self._text_file}: has {len(self._text_places) - 1:,} lines, but {self.path} has {len(self):,} "
                    "rows: these files belong to different runs. Copy both from one."
                )
            file.seek(self._text_places[row])
            line = file.readline()
        with _damage_told(self._text_file):
            return row_of_json(line, self._files)


class _ParquetVectors(StoredVectors):
    def __init__(self, path: Path) -> None:
        self.path = path
        arrow = require_pyarrow("reading Parquet")
        self._file = arrow.parquet.ParquetFile(arrow.OSFile(os.fsencode(path)))  # a text would have to be UTF-8
        facts = self._file.schema_arrow.metadata or {}
        self.metadata = {name.decode(): value.decode() for name, value in facts.items()}
        _ = self._file.schema_arrow.field("vector" if self.is_pooled else "vectors")  # KeyError in a file of others
        sizes = [self._file.metadata.row_group(group).num_rows for group in range(self._file.num_row_groups)]
        self._starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        self._lock = ThreadLock()  # pyarrow crashes if two threads read from one file
        self._group: tuple[int, list[Float[np.ndarray, "... dim"]]] = (-1, [])
        self._text_group: tuple[int, list[StoredRow]] = (-1, [])
        self._files = json.loads(self.metadata.get("files", "[]"))

    def __len__(self) -> int:
        return int(self._starts[-1])

    def _array(self, row: int) -> Float[np.ndarray, "... dim"]:
        group, place = self._place(row)
        with self._lock.mutex:
            if self._group[0] != group:
                self._group = (group, list(self._read(group)))
            return self._group[1][place].copy()

    def _text(self, row: int) -> StoredRow | None:
        names = [name for name in _TEXT_COLUMNS if name in self._file.schema_arrow.names]
        if "starts" not in names:
            return None
        group, place = self._place(row)
        with self._lock.mutex:
            if self._text_group[0] != group:
                rows = self._file.read_row_group(group, columns=names).to_pylist()
                self._text_group = (group, [row_of_arrow(values, self._files) for values in rows])
            return self._text_group[1][place]

    def _place(self, row: int) -> tuple[int, int]:
        """The row's group, and its place in it."""
        group = int(np.searchsorted(self._starts, row, side="right")) - 1
        return group, row - int(self._starts[group])

    def _read(self, group: int) -> Iterator[Float[np.ndarray, "... dim"]]:
        if self.is_pooled:
            column = self._file.read_row_group(group, columns=["vector"])["vector"].combine_chunks()
            layers = [int(self.metadata["num_layers"])] if self.metadata["layers"] == "all" else []
            yield from column.flatten().to_numpy(zero_copy_only=False).reshape(len(column), *layers, -1)
            return
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
        self._file.close(force=True)
