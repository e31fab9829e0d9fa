"""NpyWriter: one array that numpy can map into memory, and files beside it."""

import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from elmo.disk.atomic import sync
from elmo.disk.bounded import file_hash
from elmo.embed.storage.layout import files_of
from elmo.embed.storage.text_columns import TextRow, json_lines
from elmo.embed.storage.writers.placed import POSITIONS_FILE, PlacedWriter
from elmo.embed.storage.writers.writer import DATA_FILE, SentenceIndex
from elmo.shapes import Float, Int

_OFFSETS_FILE = "offsets.npy"
_METADATA_FILE = "metadata.json"
_TEXT_FILE = "text.jsonl"
_TEXT_COPY = "text-copy.jsonl"


class NpyWriter(PlacedWriter):
    """One array that numpy can map into memory, and the offsets of the rows in it."""

    format = "npy"
    work_files = (DATA_FILE, POSITIONS_FILE, _OFFSETS_FILE, _METADATA_FILE, _TEXT_FILE, _TEXT_COPY)

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
        return facts | {"text_sha256": file_hash(self.folder / _TEXT_FILE, own=True)}

    def what_changed(self, facts: Mapping[str, Any]) -> str | None:
        """See `VectorWriter`."""
        if file_hash(self.folder / _TEXT_FILE, own=True) != facts.get("text_sha256"):
            return f"{_TEXT_FILE} was changed (its checksum is another)"
        return super().what_changed(facts)

    def overhead_bytes(self, sentence_index: SentenceIndex) -> int:
        """See `VectorWriter`. The text lies there twice for a moment."""
        return 2 * self.columns.overhead_bytes(self.layout.num_tokens, len(self.layout.lengths))

    def arranged(self, array: Float[np.ndarray, "*layers tokens dim"]) -> bytes:
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

    def _offsets(self) -> Int[np.ndarray, " offsets"]:
        return np.concatenate([[0], np.cumsum(self.layout.lengths, dtype=np.int64)])
