"""PlacedWriter: raw values at places of a file that never change; what HDF5 and npy have in common."""

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from elmo.disk.arrays import mapped
from elmo.disk.atomic import sync
from elmo.disk.bounded import file_hash, read_bytes
from elmo.embed.storage.layout import VectorLayout
from elmo.embed.storage.text_columns import TextColumns, TextRow
from elmo.embed.storage.writers.writer import DATA_FILE, Metadata, VectorWriter
from elmo.shapes import Float, Int

POSITIONS_FILE = "positions.npy"
"""Where the vectors of each row begin in the data file."""

_BLOCK = 1 << 20


class PlacedWriter(VectorWriter):
    """For formats in which every row's vectors have their place from the beginning."""

    work_files = (DATA_FILE, POSITIONS_FILE)

    def __init__(
        self, folder: Path, layout: VectorLayout, metadata: Metadata, columns: TextColumns | None = None
    ) -> None:
        super().__init__(folder, layout, metadata, columns)
        self._known_positions: Int[np.ndarray, " rows"] | None = None

    def write(
        self, first: int, rows: Sequence[TextRow], arrays: Sequence[Float[np.ndarray, "*layers tokens dim"]]
    ) -> str:
        """See `VectorWriter`."""
        checksum = hashlib.sha256()
        for row, array in enumerate(arrays, start=first):
            if array.size:
                content = self.arranged(self.layout.stored(array, row))
                checksum.update(content)
                self.file.seek(int(self._positions[row]))
                self.file.write(content)
        self.file.flush()
        os.fsync(self.file.fileno())
        return checksum.hexdigest()

    def window_checksum(self, first: int, stop: int) -> str:
        """See `VectorWriter`."""
        checksum = hashlib.sha256()
        for row in range(first, stop):
            if size := self._num_bytes(row):
                self.file.seek(int(self._positions[row]))
                checksum.update(self.file.read(size))
        return checksum.hexdigest()

    def what_changed(self, facts: Mapping[str, Any]) -> str | None:
        """See `VectorWriter`."""
        limit = 8 * len(self.layout.lengths) + _BLOCK  # beside the positions there is a header
        positions = read_bytes(self.folder / POSITIONS_FILE, limit=limit, own=True)
        if hashlib.sha256(positions).hexdigest() != facts.get("positions_sha256"):
            return f"{POSITIONS_FILE} was changed (its checksum is another)"
        if os.fstat(self.file.fileno()).st_size != facts.get("data_bytes"):
            return f"{DATA_FILE} has another size"
        if self._structure_hash() != facts.get("structure_sha256"):
            return f"{DATA_FILE} was changed outside of the vectors"
        return None

    def arranged(self, array: Float[np.ndarray, "*layers tokens dim"]) -> bytes:
        """A row's bytes in the order of the file."""
        return array.tobytes()

    def _created(self, positions: Int[np.ndarray, " rows"]) -> dict[str, Any]:
        """Saves the positions; what `create` gives."""
        np.save(self.folder / POSITIONS_FILE, positions)
        for path in (self.data, self.folder / POSITIONS_FILE):
            sync(path)
        facts = {
            "positions_sha256": file_hash(self.folder / POSITIONS_FILE, own=True),
            "data_bytes": self.data.stat().st_size,
            "structure_sha256": self._structure_hash(),
        }
        self.close()
        return facts

    @property
    def _positions(self) -> Int[np.ndarray, " rows"]:
        if self._known_positions is None:
            self._known_positions = np.array(mapped(self.folder / POSITIONS_FILE, "int64", (None,), own=True))
        return self._known_positions

    def _num_bytes(self, row: int) -> int:
        return int(self.layout.lengths[row]) * self.layout.bytes_per_token

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
        for row in np.argsort(self._positions, kind="stable"):
            if size := self._num_bytes(row):
                start = int(self._positions[row])
                if start > end:
                    yield end, start
                end = start + size
        yield end, os.fstat(self.file.fileno()).st_size
