"""VectorWriter: what a writer of any format does, and how a finished file gets to its place."""

import filecmp
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from elmo.disk.atomic import sync
from elmo.disk.bounded import open_regular
from elmo.disk.output import require_file_or_nothing
from elmo.embed.storage.layout import FileFormat, VectorLayout, files_of
from elmo.embed.storage.text_columns import TextColumns, TextRow
from elmo.errors import OutputError
from elmo.shapes import Float

Metadata = Mapping[str, str]
SentenceIndex = Mapping[str, str] | None

DATA_FILE = "vectors"
"""The file that becomes the output, in the folder of work."""


class VectorWriter(ABC):
    """Writes one file inside a folder of work; `finish` puts it in its place."""

    format: FileFormat
    work_files: tuple[str, ...] = (DATA_FILE,)
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
        self.data = folder / DATA_FILE
        self._file: BinaryIO | None = None

    @abstractmethod
    def create(self, sentence_index: SentenceIndex, rows: Iterable[TextRow]) -> dict[str, Any]:
        """Everything but the vectors; gives facts for `what_changed`, plain values for JSON.

        `sentence_index`: each sentence's row, for HDF5; None: it is left out. `rows`: all rows of the text.
        """

    @abstractmethod
    def write(
        self, first: int, rows: Sequence[TextRow], arrays: Sequence[Float[np.ndarray, "*layers tokens dim"]]
    ) -> str:
        """Writes the arrays of the rows from `first` on, and syncs them; the window's checksum."""

    @abstractmethod
    def window_checksum(self, first: int, stop: int) -> str:
        """The checksum of what lies on the disk for these rows. Raises OSError if it can't be read."""

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
            require_file_or_nothing(target)
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


def _is_copy(one: Path, other: Path) -> bool:
    """Whether the first is a plain file with the second's content: what a killed `finish` had put in place already."""
    return one.is_file() and not one.is_symlink() and filecmp.cmp(one, other, shallow=False)
