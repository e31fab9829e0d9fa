"""KeptRows: the rows of a text as they were read, in an unnamed file, so that none is tokenized twice."""

import marshal
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import Any, Self

import numpy as np

from elmo.text.reading.placed import PlacedSentence

_LENGTH_BYTES = 8
_ROWS_AT_A_TIME, _CHARACTERS_AT_A_TIME = 512, 1 << 20


class KeptRows:
    """Rows that are added once, then read as often as wanted, one reading after the other.

    The file has no name and belongs to this process: a resumed run reads the text anew.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: Any = TemporaryFile(dir=folder)  # noqa: SIM115 - until `__exit__`
        self._waiting: list[tuple[Any, ...]] = []
        self._characters = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()

    def add(self, row: PlacedSentence) -> None:
        """Keeps a row. Raises an OSError that names the folder if the disk is full."""
        spans = None if row.own_spans is None else row.own_spans.astype(np.int64).tobytes()
        values = (row.tokens, row.text, row.line, row.sentence, row.start, row.file, row.has_text, row.is_skipped)
        self._waiting.append((*values, spans, row.id))
        self._characters += len(row.text)
        if len(self._waiting) == _ROWS_AT_A_TIME or self._characters >= _CHARACTERS_AT_A_TIME:
            self.finish()

    def finish(self) -> None:
        """Writes the rows that wait in memory."""
        content = marshal.dumps(self._waiting)
        try:
            self._file.write(len(content).to_bytes(_LENGTH_BYTES, "little") + content)
            self._file.flush()
        except OSError as error:
            error.filename = str(self._folder)
            raise
        self._waiting, self._characters = [], 0

    def __iter__(self) -> Iterator[PlacedSentence]:
        self._file.seek(0)
        while length := self._file.read(_LENGTH_BYTES):
            for *values, spans, name in marshal.loads(self._file.read(int.from_bytes(length, "little"))):
                own = None if spans is None else np.frombuffer(spans, np.int64).reshape(-1, 2)
                yield PlacedSentence(*values, own_spans=own, id=name)
