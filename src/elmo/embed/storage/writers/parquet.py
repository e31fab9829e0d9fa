"""ParquetWriter: a row group for each window, in files of their own until all are there."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from elmo.disk.atomic import sync
from elmo.disk.bounded import file_hash
from elmo.embed.storage.layout import FIRST_ROW, VectorLayout
from elmo.embed.storage.text_columns import TextColumns, TextRow, arrow_columns
from elmo.embed.storage.writers.writer import DATA_FILE, Metadata, SentenceIndex, VectorWriter
from elmo.errors import MissingExtraError
from elmo.shapes import Float

_GROUPS_FOLDER = "row_groups"


class ParquetWriter(VectorWriter):
    """A row group for each window, so that equal runs give equal bytes.

    The file grows beside the row groups' own files and is thrown away if the run ends early: it can't be continued.
    """

    format = "parquet"
    work_files = (DATA_FILE, _GROUPS_FOLDER)
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
        self._rows = 0
        """How many are in the growing file."""

    def create(self, sentence_index: SentenceIndex, rows: Iterable[TextRow]) -> dict[str, Any]:
        """See `VectorWriter`."""
        self.groups.mkdir()
        return {}

    def write(
        self, first: int, rows: Sequence[TextRow], arrays: Sequence[Float[np.ndarray, "*layers tokens dim"]]
    ) -> str:
        """See `VectorWriter`."""
        table = self._table(first, rows, arrays)
        group = self._group(first)
        group.unlink(missing_ok=True)  # of a window that was not finished
        with self._arrow.OSFile(str(group), "wb") as sink, self._arrow.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        sync(group)
        checksum = file_hash(group, own=True)
        if first == self._rows:
            self._grow(table)
        return checksum

    def window_checksum(self, first: int, stop: int) -> str:
        """See `VectorWriter`."""
        return file_hash(self._group(first), own=True)

    def what_changed(self, facts: Mapping[str, Any]) -> str | None:
        """See `VectorWriter`. What has grown is not looked at: it is begun anew."""
        is_plain = self.groups.is_dir() and not self.groups.is_symlink()
        return None if is_plain else f"{_GROUPS_FOLDER} is missing or a link"

    def finish(self, output: Path, *, force: bool = False) -> None:
        """See `VectorWriter`."""
        if self._growing is None:
            self._rows = 0
        while self._rows < len(self.layout.lengths):
            with self._arrow.memory_map(str(self._group(self._rows))) as source:
                table = self._arrow.ipc.open_file(source).read_all()
                self._grow(table)
                del table  # it lies in the mapped file
        self._end_growing()
        sync(self.data)
        super().finish(output, force=force)

    def close(self) -> None:
        """See `VectorWriter`. What has grown stays unless it is whole: `finish` would begin it anew."""
        if self._rows < len(self.layout.lengths):
            self._end_growing()
        super().close()

    def _grow(self, table: Any) -> None:
        options = {"compression": "none", "use_dictionary": False, "write_statistics": False}
        if self._growing is None:
            self.data.unlink(missing_ok=True)  # what an ended run left, which can't be continued
            self._growing = self._parquet.ParquetWriter(str(self.data), table.schema, **options)
        self._growing.write_table(table, row_group_size=len(table))
        self._rows += len(table)

    def _end_growing(self) -> None:
        if self._growing is not None:
            self._growing.close()
            self._growing = None

    def _group(self, first: int) -> Path:
        return self.groups / f"{first:012d}.arrow"

    def _table(
        self, first: int, rows: Sequence[TextRow], arrays: Sequence[Float[np.ndarray, "*layers tokens dim"]]
    ) -> Any:
        arrow, layout = self._arrow, self.layout
        stored = [layout.stored(array, row) for row, array in enumerate(arrays, start=first)]
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
