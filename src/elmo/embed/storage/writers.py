"""Writers: arrays -> one file, in any of three formats, so that a killed run loses nothing that was synced.

hdf5      AllenNLP's layout: dataset "0", "1", ... for each input line, `sentence_to_index` (a JSON text), metadata as
          attributes of the file
npy       OUT: all tokens end to end, (tokens, dim) or (tokens, layers, dim); OUT.offsets.npy: where each line begins,
          and the end; OUT.metadata.json
parquet   a row for each line: `index`, `tokens`, `shape`, `vectors` (for each token a list of layers * dim numbers)

All lengths are known beforehand. So HDF5 and npy files get their whole structure first and then only raw numbers, at
places that never change; a window that was not synced is simply written again. A Parquet file can't be changed, so its
row groups wait in files of their own until all are there: it needs twice the space while it is made.
`read_vectors`, the way back, is here too.
"""

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import h5py
import numpy as np

from elmo.embed.storage.layout import METADATA_SUFFIX, OFFSETS_SUFFIX, FileFormat, VectorLayout
from elmo.embed.storage.readers import StoredVectors, read_vectors
from elmo.errors import MissingExtraError

__all__ = ["WRITERS", "Hdf5Writer", "NpyWriter", "ParquetWriter", "StoredVectors", "VectorWriter", "read_vectors"]

Metadata = Mapping[str, str]
SentenceIndex = Mapping[str, str] | None

SENTENCE_INDEX = "sentence_to_index"

_DATA_FILE = "vectors"
_POSITIONS_FILE = "positions.npy"
_GROUPS_FOLDER = "row_groups"

# Bytes a line costs in HDF5 beside its numbers, about: object header, link, heap.
_HDF5_BYTES_PER_LINE = 400


class VectorWriter(ABC):
    """Writes one file inside a folder of work; `finish` puts it in its place."""

    work_files: tuple[str, ...] = (_DATA_FILE,)
    """What it may leave in the folder."""
    copies = 1
    """How often the numbers are on the disk before the end."""

    def __init__(self, folder: Path, layout: VectorLayout, metadata: Metadata) -> None:
        self.folder = folder
        self.layout = layout
        self.metadata = dict(metadata)
        self.data = folder / _DATA_FILE
        self._file: BinaryIO | None = None

    @abstractmethod
    def create(self, sentence_index: SentenceIndex) -> None:
        """Everything but the numbers. `sentence_index`: each sentence's line, for HDF5; None: it is left out."""

    @abstractmethod
    def write(self, first: int, sentences: Sequence[Sequence[str]], arrays: Sequence[np.ndarray]) -> None:
        """Writes the arrays of the lines from `first` on, and syncs them."""

    def finish(self, output: Path) -> None:
        """Puts the finished file at `output`. Can be called again if it was killed."""
        self.close()
        self.data.replace(output)

    def is_finished(self, output: Path, lines: int) -> bool:
        """Whether `finish` was killed after its last step. `lines`: how many are written and synced."""
        return lines == len(self.layout.lengths) and output.is_file() and not self.data.exists()

    def overhead_bytes(self, sentence_index: SentenceIndex) -> int:
        """Bytes of the file beside the numbers, about."""
        return 0

    def close(self) -> None:
        """Closes what is open; the folder stays as it is."""
        if self._file is not None:
            self._file.close()
            self._file = None

    @property
    def file(self) -> BinaryIO:
        """The data file, open for changes."""
        if self._file is None:
            self._file = self.data.open("r+b")
        return self._file


class PlacedWriter(VectorWriter):
    """For formats in which every line's numbers have their place from the beginning."""

    work_files = (_DATA_FILE, _POSITIONS_FILE)

    def __init__(self, folder: Path, layout: VectorLayout, metadata: Metadata) -> None:
        super().__init__(folder, layout, metadata)
        self._positions: np.ndarray | None = None

    def write(self, first: int, sentences: Sequence[Sequence[str]], arrays: Sequence[np.ndarray]) -> None:
        """See `VectorWriter`."""
        if self._positions is None:
            self._positions = np.load(self.folder / _POSITIONS_FILE)
        for line, array in enumerate(arrays, start=first):
            if array.size:
                self.file.seek(int(self._positions[line]))
                self.file.write(self.arranged(self.layout.stored(array, line)))
        self.file.flush()
        os.fsync(self.file.fileno())

    def arranged(self, array: np.ndarray) -> bytes:
        """A line's bytes in the order of the file."""
        return array.tobytes()

    def _save_positions(self, positions: np.ndarray) -> None:
        np.save(self.folder / _POSITIONS_FILE, positions)
        for name in self.work_files:
            sync_path(self.folder / name)


class Hdf5Writer(PlacedWriter):
    """AllenNLP's layout. Source: AllenNLP 0.9 `allennlp/commands/elmo.py` (specification, 4.5)."""

    def create(self, sentence_index: SentenceIndex) -> None:
        """See `VectorWriter`."""
        lines = len(self.layout.lengths)
        positions = np.zeros(lines, dtype=np.int64)
        with h5py.File(self.data, "w") as file:
            file.attrs.update(self.metadata)
            if sentence_index is not None:
                text = file.create_dataset(SENTENCE_INDEX, (1,), dtype=h5py.string_dtype())
                text[0] = json.dumps(dict(sentence_index))
            kind, settings = h5py.h5t.py_create(self.layout.dtype), _place_now()
            for line in range(lines):
                space = h5py.h5s.create_simple(self.layout.shape(line))
                dataset = h5py.h5d.create(file.id, str(line).encode(), kind, space, settings)
                positions[line] = dataset.get_offset() or 0
        self._save_positions(positions)

    def overhead_bytes(self, sentence_index: SentenceIndex) -> int:
        """See `VectorWriter`."""
        index = sum(len(sentence) + len(line) + 8 for sentence, line in (sentence_index or {}).items())
        return index + _HDF5_BYTES_PER_LINE * len(self.layout.lengths)


def _place_now() -> Any:
    """Datasets get their place in the file when they are made, and nothing is written there yet."""
    settings = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    settings.set_layout(h5py.h5d.CONTIGUOUS)
    settings.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    settings.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    settings.set_obj_track_times(False)
    return settings


class NpyWriter(PlacedWriter):
    """One array that numpy can map into memory, and the offsets of the lines in it."""

    def create(self, sentence_index: SentenceIndex) -> None:
        """See `VectorWriter`."""
        layout = self.layout
        layers = () if layout.num_layers is None else (layout.num_layers,)
        header = {
            "descr": np.lib.format.dtype_to_descr(layout.dtype),
            "fortran_order": False,
            "shape": (layout.num_tokens, *layers, layout.dim),
        }
        with self.data.open("wb") as file:
            np.lib.format.write_array_header_1_0(file, header)
            start = file.tell()
            file.truncate(start + layout.num_bytes)
        self._save_positions(start + self._offsets()[:-1] * layout.bytes_per_token)

    def arranged(self, array: np.ndarray) -> bytes:
        """Tokens first: (layers, tokens, dim) -> (tokens, layers, dim)."""
        return (array if self.layout.num_layers is None else array.swapaxes(0, 1)).tobytes()

    def finish(self, output: Path) -> None:
        """See `VectorWriter`; the array itself comes last."""
        positions = self.folder / _POSITIONS_FILE
        np.save(positions, self._offsets())
        sync_path(positions)
        positions.replace(output.with_name(output.name + OFFSETS_SUFFIX))
        text = json.dumps(self.metadata, indent=2) + "\n"
        output.with_name(output.name + METADATA_SUFFIX).write_text(text, encoding="utf-8")
        super().finish(output)

    def _offsets(self) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(self.layout.lengths, dtype=np.int64)])


class ParquetWriter(VectorWriter):
    """A row group for each window, so that equal runs give equal bytes.

    The file grows beside the row groups' own files and is thrown away if the run ends early: it can't be continued.
    """

    work_files = (_DATA_FILE, _GROUPS_FOLDER)
    copies = 2

    def __init__(self, folder: Path, layout: VectorLayout, metadata: Metadata) -> None:
        super().__init__(folder, layout, metadata)
        try:
            import pyarrow
            import pyarrow.ipc
            import pyarrow.parquet
        except ModuleNotFoundError as error:
            if error.name is None or not error.name.startswith("pyarrow"):
                raise
            raise MissingExtraError("pyarrow", "data", "writing Parquet") from None
        self._arrow = pyarrow
        self._parquet = pyarrow.parquet
        self.groups = folder / _GROUPS_FOLDER
        self._growing: Any = None
        self._lines = 0
        """How many are in the growing file."""

    def create(self, sentence_index: SentenceIndex) -> None:
        """See `VectorWriter`."""
        self.groups.mkdir()
        self.data.touch()  # its absence is what `is_finished` goes by

    def write(self, first: int, sentences: Sequence[Sequence[str]], arrays: Sequence[np.ndarray]) -> None:
        """See `VectorWriter`."""
        table = self._table(first, sentences, arrays)
        group = self._group(first)
        with self._arrow.OSFile(str(group), "wb") as sink, self._arrow.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        sync_path(group)
        if first == self._lines:
            self._grow(table)

    def finish(self, output: Path) -> None:
        """See `VectorWriter`."""
        if self._growing is None:
            self._lines = 0
        while self._lines < len(self.layout.lengths):
            with self._arrow.memory_map(str(self._group(self._lines))) as source:
                table = self._arrow.ipc.open_file(source).read_all()
                self._grow(table)
                del table  # it lies in the mapped file
        self._end_growing()
        sync_path(self.data)
        super().finish(output)

    def close(self) -> None:
        """See `VectorWriter`. What has grown stays unless it is whole: `finish` would begin it anew."""
        if self._lines < len(self.layout.lengths):
            self._end_growing()
        super().close()

    def _grow(self, table: Any) -> None:
        options = {"compression": "none", "use_dictionary": False, "write_statistics": False}
        if self._growing is None:
            self._growing = self._parquet.ParquetWriter(str(self.data), table.schema, **options)
        self._growing.write_table(table, row_group_size=len(table))
        self._lines += len(table)

    def _end_growing(self) -> None:
        if self._growing is not None:
            self._growing.close()
            self._growing = None

    def _group(self, first: int) -> Path:
        return self.groups / f"{first:012d}.arrow"

    def _table(self, first: int, sentences: Sequence[Sequence[str]], arrays: Sequence[np.ndarray]) -> Any:
        arrow, layout = self._arrow, self.layout
        stored = [layout.stored(array, line) for line, array in enumerate(arrays, start=first)]
        by_token = stored if layout.num_layers is None else [array.swapaxes(0, 1) for array in stored]
        offsets = np.cumsum([0, *(len(array) for array in by_token)])
        numbers = np.empty((offsets[-1], *by_token[0].shape[1:]), layout.dtype)
        for begin, array in zip(offsets, by_token, strict=False):
            numbers[begin : begin + len(array)] = array
        each = arrow.FixedSizeListArray.from_arrays(arrow.array(numbers.reshape(-1)), layout.numbers_per_token)
        vectors = arrow.ListArray.from_arrays(arrow.array(offsets, arrow.int32()), each)
        columns = {
            "index": arrow.array(range(first, first + len(arrays)), arrow.int64()),
            "tokens": arrow.array([[_utf8(token) for token in row] for row in sentences], arrow.list_(arrow.string())),
            "shape": arrow.array([array.shape for array in stored], arrow.list_(arrow.int32())),
            "vectors": vectors,
        }
        return arrow.table(columns).replace_schema_metadata(self.metadata)


WRITERS: Mapping[FileFormat, type[VectorWriter]] = {"hdf5": Hdf5Writer, "npy": NpyWriter, "parquet": ParquetWriter}


def _utf8(token: str) -> str:
    """Lone surrogates, which no UTF-8 text can hold, become question marks."""
    return token.encode("utf-8", "replace").decode("utf-8")


def sync_path(path: Path) -> None:
    """Brings a file to the disk."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
