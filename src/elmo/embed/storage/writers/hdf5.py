"""Hdf5Writer: AllenNLP's layout, and a group of the text."""

import json
from collections.abc import Iterable
from typing import Any

import h5py
import numpy as np

from elmo.embed.storage.layout import SENTENCE_INDEX
from elmo.embed.storage.text_columns import TextRow, write_hdf5
from elmo.embed.storage.writers.placed import PlacedWriter
from elmo.embed.storage.writers.writer import SentenceIndex

# Bytes a row costs beside its numbers, about: object header, link, heap.
_BYTES_PER_ROW = 400


class Hdf5Writer(PlacedWriter):
    """AllenNLP's layout. Source: AllenNLP 0.9 `allennlp/commands/elmo.py` (specification, 4.5)."""

    format = "hdf5"

    def create(self, sentence_index: SentenceIndex, rows: Iterable[TextRow]) -> dict[str, Any]:
        """See `VectorWriter`."""
        num_rows = len(self.layout.lengths)
        positions = np.zeros(num_rows, dtype=np.int64)
        with h5py.File(self.data, "w") as file:
            file.attrs.update(self.metadata)
            if sentence_index is not None:
                text = file.create_dataset(SENTENCE_INDEX, (1,), dtype=h5py.string_dtype())
                text[0] = json.dumps(dict(sentence_index))
            kind, settings = h5py.h5t.py_create(self.layout.dtype), _place_now()
            for row in range(num_rows):
                space = h5py.h5s.create_simple(self.layout.shape(row))
                dataset = h5py.h5d.create(file.id, str(row).encode(), kind, space, settings)
                positions[row] = dataset.get_offset() or 0
            write_hdf5(file, rows, self.layout.lengths, self.columns)
        return self._created(positions)

    def overhead_bytes(self, sentence_index: SentenceIndex) -> int:
        """See `VectorWriter`."""
        index = sum(len(sentence) + len(row) + 8 for sentence, row in (sentence_index or {}).items())
        text = self.columns.overhead_bytes(self.layout.num_tokens, len(self.layout.lengths))
        return index + text + _BYTES_PER_ROW * len(self.layout.lengths)


def _place_now() -> Any:
    """Datasets get their place in the file when they are made, and nothing is written there yet."""
    settings = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    settings.set_layout(h5py.h5d.CONTIGUOUS)
    settings.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    settings.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    settings.set_obj_track_times(False)
    return settings
