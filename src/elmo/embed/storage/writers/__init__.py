"""Writers: arrays -> one file, in any of three formats, so that a killed run loses nothing that was synced.

hdf5      AllenNLP's layout: dataset "0", "1", ... for each row, `sentence_to_index` (a JSON text), metadata as
          attributes of the file; the group `text` joins the vectors to the text
npy       OUT: all tokens end to end, (tokens, dim) or (tokens, layers, dim); OUT.offsets.npy: where each row begins,
          and the end; OUT.text.jsonl; OUT.metadata.json
parquet   `index`, `line`, `sentence`, `tokens`, `starts`, `ends`, `shape`, `vectors` (for each token a list of
          layers * dim values)

A row is a sentence of the text; `text_columns` says what is stored of it beside its vectors.

All lengths are known beforehand. So HDF5 and npy files get their whole structure first and then only raw values, at
places that never change; a window that was not synced is simply written again. A Parquet file can't be changed, so its
row groups wait in files of their own until all are there: it needs twice the space while it is made.
Every window has a checksum, and so has the structure around the windows, so that a resumed run can tell whether what it
finds is what was written.
"""

import filecmp
import hashlib
import json
import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import h5py
import numpy as np

from elmo.disk.atomic import sync
from elmo.disk.bounded import open_regular, own_file_hash, read_bytes
from elmo.embed.storage.layout import FIRST_ROW, SENTENCE_INDEX, FileFormat, VectorLayout, files_of
from elmo.embed.storage.text_columns import TextColumns, TextRow, arrow_columns, json_lines, write_hdf5
from elmo.errors import MissingExtraError, OutputError

Metadata = Mapping[str, str]
SentenceIndex = Mapping[str, str] | None

_DATA_FILE = "vectors"
_POSITIONS_FILE = "positions.npy"
_OFFSETS_FILE = "offsets.npy"
_METADATA_FILE = "metadata.json"
_TEXT_FILE = "text.jsonl"
_TEXT_COPY = "text-copy.jsonl"
_GROUPS_FOLDER = "row_groups"
_BLOCK = 1 << 20

# Bytes a line costs in HDF5 beside its numbers, about: object header, link, heap.
_HDF5_BYTES_PER_LINE = 400


class VectorWriter(ABC):
    """Writes one file inside a folder of work; `finish` puts it in its place."""

    format: FileFormat
    work_files: tuple[str, ...] = (_DATA_FILE,)
    """What it may leave in the folder."""
    work_folder: str | None = None
    """Which of them is a folder; the others are files."""
    copies = 1
    """How many copies of the vectors are on the disk before the end."""

    def __init__(
        self, folder: Path, layout: VectorLayout, metadata: Metadata, columns: TextColumns | None = None
    ) -> None:
        """`columns`: what is stored of the text (default: tokens and their places)."""
        self.columns = columns or TextColumns()
        self.folder = folder
        self.layout = layout
        # In the order of their names, in which HDF5 gives them back: so shards can be joined to the same bytes.
        self.metadata = dict(sorted(metadata.items()))
        self.data = folder / _DATA_FILE
        self._file: BinaryIO | None = None

    @abstractmethod
    def create(self, sentence_index: SentenceIndex, rows: Iterable[TextRow]) -> dict[str, Any]:
        """Everything but the vectors; gives facts for `what_changed`, plain values for JSON.

        `sentence_index`: each sentence's row, for HDF5; None: it is left out. `rows`: all rows of the text.
        """

    @abstractmethod
    def write(self, first: int, rows: Sequence[TextRow], arrays: Sequence[np.ndarray]) -> str:
        """Writes the arrays of the rows from `first` on, and syncs them; the window's checksum."""

    @abstractmethod
    def window_checksum(self, first: int, stop: int) -> str:
        """The checksum of what lies on the disk for these lines. Raises OSError if it can't be read."""

    def what_changed(self, facts: Mapping[str, Any]) -> str | None:
        """What is no longer as `create` left it, apart from the windows; None: nothing. Raises OSError."""
        return None

    def finish(self, output: Path, *, force: bool = False) -> None:
        """Puts the finished file at `output`. Can be called again if it was killed.

        OutputError if another file has appeared there meanwhile, which only `force` replaces.
        """
        self.close()
        self._put_in_place({files_of(output, self.format)[-1]: self.data}, force)

    def _put_in_place(self, files: Mapping[Path, Path], force: bool) -> None:
        """Renames the values to the keys, in this order."""
        for target, finished in files.items():
            if os.path.lexists(target) and not force and not _is_copy(target, finished):
                raise OutputError(
                    f"{target}: has appeared while the vectors were computed, and is not replaced. They are kept "
                    f"in {self.folder}: move that file away, then continue with --resume, or replace it with --resume "
                    "--force."
                )
        for target, finished in files.items():
            finished.replace(target)
        for folder in {target.parent for target in files}:
            sync(folder)

    def overhead_bytes(self, sentence_index: SentenceIndex) -> int:
        """Approximate bytes of the file beside the vectors."""
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
            self._file = open_regular(self.data, own=True, change=True)
        return self._file


class PlacedWriter(VectorWriter):
    """For formats in which every line's vectors have their place from the beginning."""

    work_files = (_DATA_FILE, _POSITIONS_FILE)

    def __init__(
        self, folder: Path, layout: VectorLayout, metadata: Metadata, columns: TextColumns | None = None
    ) -> None:
        super().__init__(folder, layout, metadata, columns)
        self._known_positions: np.ndarray | None = None

    def write(self, first: int, rows: Sequence[TextRow], arrays: Sequence[np.ndarray]) -> str:
        """See `VectorWriter`."""
        checksum = hashlib.sha256()
        for line, array in enumerate(arrays, start=first):
            if array.size:
                content = self.arranged(self.layout.stored(array, line))
                checksum.update(content)
                self.file.seek(int(self._positions[line]))
                self.file.write(content)
        self.file.flush()
        os.fsync(self.file.fileno())
        return checksum.hexdigest()

    def window_checksum(self, first: int, stop: int) -> str:
        """See `VectorWriter`."""
        checksum = hashlib.sha256()
        for line in range(first, stop):
            if size := self._num_bytes(line):
                self.file.seek(int(self._positions[line]))
                checksum.update(self.file.read(size))
        return checksum.hexdigest()

    def what_changed(self, facts: Mapping[str, Any]) -> str | None:
        """See `VectorWriter`."""
        limit = 8 * len(self.layout.lengths) + _BLOCK  # beside the positions there is a header
        positions = read_bytes(self.folder / _POSITIONS_FILE, limit=limit, own=True)
        if hashlib.sha256(positions).hexdigest() != facts.get("positions_sha256"):
            return f"{_POSITIONS_FILE} was changed (its checksum is another)"
        if os.fstat(self.file.fileno()).st_size != facts.get("data_bytes"):
            return f"{_DATA_FILE} has another size"
        if self._structure_hash() != facts.get("structure_sha256"):
            return f"{_DATA_FILE} was changed outside of the vectors"
        return None

    def arranged(self, array: np.ndarray) -> bytes:
        """A line's bytes in the order of the file."""
        return array.tobytes()

    def _created(self, positions: np.ndarray) -> dict[str, Any]:
        """Saves the positions; what `create` gives."""
        np.save(self.folder / _POSITIONS_FILE, positions)
        for path in (self.data, self.folder / _POSITIONS_FILE):
            sync(path)
        facts = {
            "positions_sha256": own_file_hash(self.folder / _POSITIONS_FILE),
            "data_bytes": self.data.stat().st_size,
            "structure_sha256": self._structure_hash(),
        }
        self.close()
        return facts

    @property
    def _positions(self) -> np.ndarray:
        if self._known_positions is None:
            with open_regular(self.folder / _POSITIONS_FILE, own=True) as file:
                self._known_positions = np.asarray(np.load(file, allow_pickle=False))
        return self._known_positions

    def _num_bytes(self, line: int) -> int:
        return int(self.layout.lengths[line]) * self.layout.bytes_per_token

    def _structure_hash(self) -> str:
        """Of all bytes of the data file that are no vectors."""
        checksum = hashlib.sha256()
        for start, stop in self._gaps():
            self.file.seek(start)
            for at in range(start, stop, _BLOCK):
                checksum.update(self.file.read(min(_BLOCK, stop - at)))
        return checksum.hexdigest()

    def _gaps(self) -> Iterator[tuple[int, int]]:
        end = 0
        for line in np.argsort(self._positions, kind="stable"):
            if size := self._num_bytes(line):
                start = int(self._positions[line])
                if start > end:
                    yield end, start
                end = start + size
        yield end, os.fstat(self.file.fileno()).st_size


class Hdf5Writer(PlacedWriter):
    """AllenNLP's layout. Source: AllenNLP 0.9 `allennlp/commands/elmo.py` (specification, 4.5)."""

    format = "hdf5"

    def create(self, sentence_index: SentenceIndex, rows: Iterable[TextRow]) -> dict[str, Any]:
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
            write_hdf5(file, rows, self.layout.lengths, self.columns)
        return self._created(positions)

    def overhead_bytes(self, sentence_index: SentenceIndex) -> int:
        """See `VectorWriter`."""
        index = sum(len(sentence) + len(line) + 8 for sentence, line in (sentence_index or {}).items())
        text = self.columns.overhead_bytes(self.layout.num_tokens, len(self.layout.lengths))
        return index + text + _HDF5_BYTES_PER_LINE * len(self.layout.lengths)


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

    format = "npy"
    work_files = (_DATA_FILE, _POSITIONS_FILE, _OFFSETS_FILE, _METADATA_FILE, _TEXT_FILE, _TEXT_COPY)

    def create(self, sentence_index: SentenceIndex, rows: Iterable[TextRow]) -> dict[str, Any]:
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
        with (self.folder / _TEXT_FILE).open("w", encoding="utf-8") as text:
            text.writelines(json_lines(rows, layout.lengths, self.columns))
        sync(self.folder / _TEXT_FILE)
        facts = self._created(start + self._offsets()[:-1] * layout.bytes_per_token)
        return facts | {"text_sha256": own_file_hash(self.folder / _TEXT_FILE)}

    def what_changed(self, facts: Mapping[str, Any]) -> str | None:
        """See `VectorWriter`."""
        if own_file_hash(self.folder / _TEXT_FILE) != facts.get("text_sha256"):
            return f"{_TEXT_FILE} was changed (its checksum is another)"
        return super().what_changed(facts)

    def overhead_bytes(self, sentence_index: SentenceIndex) -> int:
        """See `VectorWriter`. The text lies there twice for a moment."""
        return 2 * self.columns.overhead_bytes(self.layout.num_tokens, len(self.layout.lengths))

    def arranged(self, array: np.ndarray) -> bytes:
        """Tokens first: (layers, tokens, dim) -> (tokens, layers, dim)."""
        return (array if self.layout.num_layers is None else array.swapaxes(0, 1)).tobytes()

    def finish(self, output: Path, *, force: bool = False) -> None:
        """See `VectorWriter`; the array itself comes last."""
        self.close()
        offsets, metadata = self.folder / _OFFSETS_FILE, self.folder / _METADATA_FILE
        text = self.folder / _TEXT_COPY  # what a killed `finish` had put in place is made again
        for path in (offsets, metadata, text):
            path.unlink(missing_ok=True)
        shutil.copyfile(self.folder / _TEXT_FILE, text)
        np.save(offsets, self._offsets())
        metadata.write_text(json.dumps(self.metadata, indent=2) + "\n", encoding="utf-8")
        for path in (offsets, text, metadata):
            sync(path)
        targets = files_of(output, self.format)
        self._put_in_place(dict(zip(targets, (offsets, text, metadata, self.data), strict=True)), force)

    def _offsets(self) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(self.layout.lengths, dtype=np.int64)])


class ParquetWriter(VectorWriter):
    """A row group for each window, so that equal runs give equal bytes.

    The file grows beside the row groups' own files and is thrown away if the run ends early: it can't be continued.
    """

    format = "parquet"
    work_files = (_DATA_FILE, _GROUPS_FOLDER)
    work_folder = _GROUPS_FOLDER
    copies = 2

    def __init__(
        self, folder: Path, layout: VectorLayout, metadata: Metadata, columns: TextColumns | None = None
    ) -> None:
        super().__init__(folder, layout, metadata, columns)
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

    def create(self, sentence_index: SentenceIndex, rows: Iterable[TextRow]) -> dict[str, Any]:
        """See `VectorWriter`."""
        self.groups.mkdir()
        return {}

    def write(self, first: int, rows: Sequence[TextRow], arrays: Sequence[np.ndarray]) -> str:
        """See `VectorWriter`."""
        table = self._table(first, rows, arrays)
        group = self._group(first)
        group.unlink(missing_ok=True)  # of a window that was not finished
        with self._arrow.OSFile(str(group), "wb") as sink, self._arrow.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        sync(group)
        checksum = own_file_hash(group)
        if first == self._lines:
            self._grow(table)
        return checksum

    def window_checksum(self, first: int, stop: int) -> str:
        """See `VectorWriter`."""
        return own_file_hash(self._group(first))

    def what_changed(self, facts: Mapping[str, Any]) -> str | None:
        """See `VectorWriter`. What has grown is not looked at: it is begun anew."""
        is_plain = self.groups.is_dir() and not self.groups.is_symlink()
        return None if is_plain else f"{_GROUPS_FOLDER} is missing or a link"

    def finish(self, output: Path, *, force: bool = False) -> None:
        """See `VectorWriter`."""
        if self._growing is None:
            self._lines = 0
        while self._lines < len(self.layout.lengths):
            with self._arrow.memory_map(str(self._group(self._lines))) as source:
                table = self._arrow.ipc.open_file(source).read_all()
                self._grow(table)
                del table  # it lies in the mapped file
        self._end_growing()
        sync(self.data)
        super().finish(output, force=force)

    def close(self) -> None:
        """See `VectorWriter`. What has grown stays unless it is whole: `finish` would begin it anew."""
        if self._lines < len(self.layout.lengths):
            self._end_growing()
        super().close()

    def _grow(self, table: Any) -> None:
        options = {"compression": "none", "use_dictionary": False, "write_statistics": False}
        if self._growing is None:
            self.data.unlink(missing_ok=True)  # what an ended run left, which can't be continued
            self._growing = self._parquet.ParquetWriter(str(self.data), table.schema, **options)
        self._growing.write_table(table, row_group_size=len(table))
        self._lines += len(table)

    def _end_growing(self) -> None:
        if self._growing is not None:
            self._growing.close()
            self._growing = None

    def _group(self, first: int) -> Path:
        return self.groups / f"{first:012d}.arrow"

    def _table(self, first: int, rows: Sequence[TextRow], arrays: Sequence[np.ndarray]) -> Any:
        arrow, layout = self._arrow, self.layout
        stored = [layout.stored(array, line) for line, array in enumerate(arrays, start=first)]
        by_token = stored if layout.num_layers is None else [array.swapaxes(0, 1) for array in stored]
        offsets = np.cumsum([0, *(len(array) for array in by_token)])
        numbers = np.empty((offsets[-1], *by_token[0].shape[1:]), layout.dtype)
        for start, array in zip(offsets, by_token, strict=False):
            numbers[start : start + len(array)] = array
        begin = first + int(self.metadata.get(FIRST_ROW, 0))
        each = arrow.FixedSizeListArray.from_arrays(arrow.array(numbers.reshape(-1)), layout.numbers_per_token)
        vectors = arrow.ListArray.from_arrays(arrow.array(offsets, arrow.int32()), each)
        columns = {
            "index": arrow.array(range(begin, begin + len(arrays)), arrow.int64()),
            **arrow_columns(arrow, rows, self.columns),
            "shape": arrow.array([array.shape for array in stored], arrow.list_(arrow.int32())),
            "vectors": vectors,
        }
        return arrow.table(columns).replace_schema_metadata(self.metadata)


WRITERS: Mapping[FileFormat, type[VectorWriter]] = {"hdf5": Hdf5Writer, "npy": NpyWriter, "parquet": ParquetWriter}


def _is_copy(one: Path, other: Path) -> bool:
    """Whether the first is a plain file with the second's content: what a killed `finish` had put in place already."""
    return one.is_file() and not one.is_symlink() and filecmp.cmp(one, other, shallow=False)
