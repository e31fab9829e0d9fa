"""Writers: the text and the vectors of all rows -> one file, in any of three formats.

hdf5      AllenNLP's layout: dataset "0", "1", ... for each row, `sentence_to_index` (a JSON text), metadata as
          attributes of the file; the group `text` joins the vectors to the text. Of proteins the datasets bear their
          ids, in the order of the text, and nothing stands beside them: `text_columns.write_protein`
npy       OUT: all tokens end to end, (tokens, dim) or (tokens, layers, dim); OUT.offsets.npy: where each row begins,
          and the end; OUT.text.jsonl; OUT.metadata.json
parquet   `index`, `line`, `sentence`, `tokens`, `starts`, `ends`, `shape`, `vectors` (for each token a list of
          layers * dim values); a row group for each window

Pooled, a row has one vector: datasets and npy have no axis of tokens, and Parquet has `vector` instead of `vectors`.

A row is a sentence of the text; `text_columns` documents what is stored of it beside its vectors. Equal contents give
equal bytes. Files appear whole, so HDF5's are written and read without its locks, which network drives may not have.
Source of the HDF5 layout: AllenNLP 0.9 `allennlp/commands/elmo.py` (specification, 4.5).
"""

import filecmp
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from elmo.disk.atomic import sync
from elmo.disk.output import require_file_or_nothing
from elmo.embed.storage.layout import SENTENCE_INDEX, FileFormat, VectorLayout, files_of, require_pyarrow
from elmo.embed.storage.text_columns import TextColumns, TextRow, arrow_columns, json_lines, write_hdf5, write_protein
from elmo.errors import OutputError
from elmo.shapes import Float, Int
from elmo.text.formats.fasta import dataset_name

Arrays = Sequence[Float[np.ndarray, "*layers tokens dim"]]

COMPRESSION = "gzip"
"""What metadata call the compression of HDF5."""
_DEFLATE_LEVEL = 4
_CHUNK_BYTES = 1 << 20

# About what HDF5 needs beside the numbers: for a token, beside its characters, a reference, the heap's own and a span;
# for a row an object header, a link, an entry of the index, its line and sentence.
_BYTES_PER_TOKEN, _BYTES_PER_ROW = 48, 424


@dataclass(frozen=True)
class FileContent:
    """All that a file of vectors has."""

    layout: VectorLayout
    metadata: Mapping[str, str]
    columns: TextColumns
    rows: Callable[[], Iterator[TextRow]]
    """The text of all rows."""
    sentence_index: Callable[[], Mapping[str, str] | None]
    """For HDF5, called once the rows have been read: each sentence's row; None: it is left out."""
    windows: Callable[[], Iterator[Arrays]]
    """The arrays of all rows, in the groups that Parquet keeps."""
    lengths: Int[np.ndarray, " rows"]
    """Tokens of each row."""

    @property
    def overhead_bytes(self) -> int:
        """Approximate bytes of a file beside the vectors."""
        return _BYTES_PER_TOKEN * int(self.lengths.sum()) + _BYTES_PER_ROW * len(self.lengths)

    def stored(self) -> Iterator[Arrays]:
        """The windows' arrays as they are stored. Raises OutputError for a number that the type can't hold."""
        first = 0
        for window in self.windows():
            yield [self.layout.stored(array, row) for row, array in enumerate(window, start=first)]
            first += len(window)

    def write(self, file_format: FileFormat, path: Path) -> None:
        """Writes the file, and what belongs beside it (`files_of`), where nothing is yet, and syncs them."""
        {"hdf5": _write_hdf5, "npy": _write_npy, "parquet": _write_parquet}[file_format](path, self)
        for file in files_of(path, file_format):
            sync(file)


def put_in_place(made: Path, output: Path, file_format: FileFormat, *, force: bool) -> None:
    """Renames a written file, and what belongs beside it, to `output`, which comes last.

    OutputError if something has appeared there meanwhile; `force` replaces a file.
    """
    files = dict(zip(files_of(output, file_format), files_of(made, file_format), strict=True))
    for target, file in files.items():
        require_file_or_nothing(target)
        if os.path.lexists(target) and not force and not _is_copy(target, file):
            raise OutputError(
                f"{target}: has appeared while the vectors were computed, and is not replaced. They are kept in "
                f"{made.parent}: move that file away, then continue with --resume, or replace it with --resume --force."
            )
    for target, file in files.items():
        file.replace(target)
    sync(output.absolute().parent)


def _is_copy(one: Path, other: Path) -> bool:
    """Whether the first is a plain file with the second's content: a run that was killed here had put it there."""
    return one.is_file() and not one.is_symlink() and filecmp.cmp(one, other, shallow=False)


def _write_hdf5(path: Path, content: FileContent) -> None:
    kind, layout, columns = h5py.h5t.py_create(content.layout.dtype), content.layout, content.columns
    in_utf8 = h5py.h5p.create(h5py.h5p.LINK_CREATE)
    in_utf8.set_char_encoding(h5py.h5t.CSET_UTF8)
    whole, is_compressed = h5py.h5s.ALL, content.metadata.get("compression") == COMPRESSION
    with _in_order(path) as file:
        file.attrs.update(dict(sorted(content.metadata.items())))
        records = content.rows()
        if not columns.has_ids:
            write_hdf5(file, records, content.lengths, columns)
        if (index := content.sentence_index()) is not None:
            text = file.create_dataset(SENTENCE_INDEX, (1,), dtype=h5py.string_dtype())
            text[0] = json.dumps(dict(index))
        for row, array in enumerate(array for window in content.stored() for array in window):
            array = layout.in_file(array)
            record = next(records) if columns.has_ids else None
            name = str(row) if record is None or record.id is None else dataset_name(record.id)
            settings = _settings(array, is_compressed)
            space = h5py.h5s.create_simple(array.shape)
            dataset = h5py.h5d.create(file.id, name.encode(), kind, space, settings, in_utf8)
            if array.size:
                dataset.write(whole, whole, np.ascontiguousarray(array))
            if record is not None:
                write_protein(h5py.Dataset(dataset), record, columns)


def _in_order(path: Path) -> h5py.File:
    """A new file whose datasets are listed as they were made, not by their names."""
    settings = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    settings.set_link_creation_order(h5py.h5p.CRT_ORDER_TRACKED | h5py.h5p.CRT_ORDER_INDEXED)
    settings.set_obj_track_times(False)
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_file_locking(False, True)  # as `locking=False`
    return h5py.File(h5py.h5f.create(os.fsencode(path), h5py.h5f.ACC_EXCL, settings, access))


def _settings(array: Float[np.ndarray, "..."], is_compressed: bool) -> h5py.h5p.PropDCID:
    """How HDF5 stores an array."""
    settings = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    settings.set_obj_track_times(False)  # so that equal contents give equal bytes
    if is_compressed and array.size:
        rows = max(1, _CHUNK_BYTES // (array.shape[-1] * array.itemsize))
        chunk = (min(rows, array.shape[-2]), array.shape[-1]) if array.ndim > 1 else array.shape
        settings.set_chunk((1,) * (array.ndim - len(chunk)) + chunk)
        settings.set_shuffle()  # equal bytes of the numbers side by side: the exponents are much alike
        settings.set_deflate(_DEFLATE_LEVEL)
    return settings


def _write_npy(path: Path, content: FileContent) -> None:
    layout = content.layout
    offsets, text, metadata, data = files_of(path, "npy")
    np.save(offsets, np.concatenate([[0], np.cumsum(layout.lengths, dtype=np.int64)]))
    with text.open("w", encoding="utf-8") as lines:
        lines.writelines(json_lines(content.rows(), content.columns))
    facts = dict(sorted(content.metadata.items()))
    metadata.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    layers = () if layout.num_layers is None else (layout.num_layers,)
    header = {
        "descr": np.lib.format.dtype_to_descr(layout.dtype),
        "fortran_order": False,
        "shape": (layout.num_tokens, *layers, layout.dim),
    }
    with data.open("xb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for array in _by_token(layout, (array for window in content.stored() for array in window)):
            if array.size:
                file.write(np.ascontiguousarray(array).data)


def _write_parquet(path: Path, content: FileContent) -> None:
    arrow = require_pyarrow("writing Parquet")
    options = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    writer, rows, first = None, content.rows(), 0
    with path.open("xb") as file:  # pyarrow takes no name that is not UTF-8
        try:
            for window in content.stored():
                table = _table(arrow, content, first, list(islice(rows, len(window))), window)
                writer = writer or arrow.parquet.ParquetWriter(file, table.schema, **options)
                writer.write_table(table, row_group_size=len(table))
                first += len(window)
        finally:
            if writer is not None:
                writer.close()


def _table(arrow: Any, content: FileContent, first: int, rows: Sequence[TextRow], arrays: Arrays) -> Any:
    """A row group, whose first row has the number `first` in the whole text."""
    layout = content.layout
    by_token = list(_by_token(layout, arrays))
    offsets = np.cumsum([0, *(len(array) for array in by_token)])
    numbers = np.empty((offsets[-1], *by_token[0].shape[1:]), layout.dtype)
    for start, array in zip(offsets, by_token, strict=False):
        numbers[start : start + len(array)] = array
    each = arrow.FixedSizeListArray.from_arrays(arrow.array(numbers.reshape(-1)), layout.numbers_per_token)
    columns = {
        "index": arrow.array(range(first, first + len(arrays)), arrow.int64()),
        **arrow_columns(arrow, rows, content.columns),
    }
    if layout.is_pooled:
        columns["vector"] = each
    else:
        columns["shape"] = arrow.array([array.shape for array in arrays], arrow.list_(arrow.int32()))
        columns["vectors"] = arrow.ListArray.from_arrays(arrow.array(offsets, arrow.int32()), each)
    return arrow.table(columns).replace_schema_metadata(dict(sorted(content.metadata.items())))


def _by_token(layout: VectorLayout, arrays: Iterable[Any]) -> Iterator[Float[np.ndarray, "tokens *layers dim"]]:
    """Tokens first: (layers, tokens, dim) -> (tokens, layers, dim)."""
    return (array if layout.num_layers is None else array.swapaxes(0, 1) for array in arrays)
