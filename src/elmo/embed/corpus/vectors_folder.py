"""VectorsFolder: `OUTPUT.partial/`, where a file of vectors is made and from which an ended run is resumed.

manifest.json        the settings that decide what is in the file; written first, removed last
input.txt            the text, if it came from standard input or a pipe
part-000000000512    the vectors of the window that begins at row 512, behind their checksum
vectors, vectors.*   the file that is joined from the parts

A part counts if its checksum holds, which covers the run's settings and the part's place too. What doesn't count is
removed and made anew. So parts needn't be synced one by one: a power failure costs those of the last seconds.
"""

import hashlib
import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from elmo.disk.arrays import read_npz
from elmo.disk.atomic import sync
from elmo.disk.bounded import open_regular, read_bytes
from elmo.disk.partial_folder import PartialFolder
from elmo.embed.storage.layout import VectorLayout
from elmo.process.progress.report import Count, Progress
from elmo.process.stop_flag import stop_flag
from elmo.shapes import Float
from elmo.text.files.lines import byte_lines
from elmo.weights.fingerprint import text_hash

_MANIFEST_BYTES = 1 << 20
_INPUT_FILE = "input.txt"
_JOINED_FILE = "vectors"
_DIGEST_BYTES = 32
_BYTES_BETWEEN_REPORTS = 1 << 20

State = Mapping[str, Float[np.ndarray, "layers rows width"]]


class VectorsFolder(PartialFolder):
    """The folder of work beside a file of vectors."""

    note_file = "manifest.json"
    ours = re.compile(r"manifest\.json|input\.txt|part-\d{12,18}|vectors(\.(offsets\.npy|text\.jsonl|metadata\.json))?")
    holder = "'elmo embed'"

    @property
    def input(self) -> Path:
        """Where a text that can be read only once is kept."""
        return self.path / _INPUT_FILE

    @property
    def joined(self) -> Path:
        """The file that becomes the output."""
        return self.path / _JOINED_FILE

    def clear_joined(self) -> None:
        """Removes what an earlier run had begun to join."""
        for entry in self.path.glob(f"{_JOINED_FILE}*"):
            entry.unlink()

    def spool(self, text: Path | str, progress: Progress) -> None:
        """Keeps a text that can be read only once. Raises TextError for what is not text, OSError naming the copy.

        `progress`: receives its bytes. A signal raises KeyboardInterrupt, however long the text is in coming.
        """
        received = Count(progress, "receiving", None, "bytes")
        with stop_flag() as flag, flag.at_once(), self.input.open("xb") as file:
            try:
                for line in byte_lines(text):
                    file.write(line)
                    if file.tell() - received.done >= _BYTES_BETWEEN_REPORTS:
                        received.add(file.tell() - received.done)
                received.add(file.tell() - received.done)
                received.finish()
                file.flush()
                os.fsync(file.fileno())
            except OSError as error:
                error.filename = error.filename or str(self.input)
                raise

    def begin(self, settings: Mapping[str, Any]) -> None:
        """Notes what decides the file's content."""
        content = json.dumps({"settings": settings, "sha256": run_hash(settings)}, indent=2)
        _write_new(self.note, [content.encode("ascii")])
        sync(self.note)

    def require_same(self, settings: Mapping[str, Any]) -> None:
        """ConfigError if the folder was begun with another text, model or setting: its parts would differ."""
        if (begun := _read_manifest(self.note)) is not None:
            self.require_equal(begun, settings)


@dataclass(frozen=True)
class Parts:
    """The parts of one run: windows of rows, each with its vectors in a file of its own."""

    folder: Path
    run: str
    """The run's `run_hash`."""
    layout: VectorLayout
    """Of all rows."""
    windows: Sequence[range]
    first: int = 0
    """The row that the layout's first one is."""

    def of_window(self, window: range) -> "Parts":
        """As much of it as another process needs to write the part of a window."""
        lengths = self.layout.lengths[window.start : window.stop].copy()
        return replace(self, layout=replace(self.layout, lengths=lengths), windows=[window], first=window.start)

    def write(
        self, window: range, arrays: Sequence[Float[np.ndarray, "*layers tokens dim"]], state: State | None = None
    ) -> None:
        """Stores the vectors of a window, and in carry mode the state after it.

        Raises OutputError for a number that the stored type can't hold.
        """
        rows = range(window.start - self.first, window.stop - self.first)
        stored = [self.layout.stored(array, row) for row, array in zip(rows, arrays, strict=True)]
        pieces: list[Any] = [np.ascontiguousarray(array).data for array in stored if array.size]
        if state:
            content, named = BytesIO(), dict[str, Any](state)  # savez has keywords of its own
            np.savez(content, **named)
            pieces.append(content.getbuffer())
        checksum = self._checksum(window)
        for piece in pieces:
            checksum.update(piece)
        _write_new(self._file(window), [checksum.digest(), *pieces])

    def kept(self, progress: Progress, *, in_order: bool) -> list[range]:
        """The windows whose parts count; `in_order`: up to the first that doesn't. `progress`: receives their rows."""
        there = [window for window in self.windows if os.path.lexists(self._file(window))]
        checked = Count(progress, "checking", sum(map(len, there)), "rows")
        found: list[range] = []
        for window in there:
            is_next = window is self.windows[len(found)]
            if (is_next or not in_order) and self._holds(window):
                found.append(window)
            elif in_order:
                break
            checked.add(len(window))
        return found

    def arrays(self, window: range) -> list[Float[np.ndarray, "*layers tokens dim"]]:
        """The vectors of a window, mapped into memory."""
        shapes = [self.layout.shape(row) for row in window]
        ends = np.cumsum([0, *(math.prod(shape) for shape in shapes)]).tolist()
        numbers = np.empty(0, self.layout.dtype)
        if ends[-1]:
            numbers = np.asarray(np.memmap(self._file(window), self.layout.dtype, "r", _DIGEST_BYTES, (ends[-1],)))
        return [numbers[start:stop].reshape(shape) for start, stop, shape in zip(ends, ends[1:], shapes, strict=False)]

    def state(self, window: range) -> State:
        """Carry mode: the rows' state after a window that is kept."""
        start = _DIGEST_BYTES + self.layout.bytes_per_token * int(self.layout.lengths[window.start : window.stop].sum())
        with self._file(window).open("rb") as file:
            file.seek(start)
            return read_npz(BytesIO(file.read()))

    def remove(self, window: range) -> None:
        """Gives its bytes back to the disk."""
        self._file(window).unlink()

    def _file(self, window: range) -> Path:
        return self.folder / f"part-{window.start:012d}"

    def _checksum(self, window: range) -> Any:
        return hashlib.sha256(f"{self.run} {window.start} {window.stop}\n".encode())

    def _holds(self, window: range) -> bool:
        try:
            with open_regular(self._file(window)) as file:
                digest = file.read(_DIGEST_BYTES)
                return hashlib.file_digest(file, lambda: self._checksum(window)).digest() == digest
        except OSError:
            return False


def run_hash(settings: Mapping[str, Any]) -> str:
    """One hash of all that decides a file's content."""
    return text_hash(json.dumps(dict(settings), sort_keys=True))


def _read_manifest(path: Path) -> dict[str, Any] | None:
    """The settings that a folder was begun with; None if nobody noted them, or not as they stand there."""
    try:
        values = json.loads(read_bytes(path, limit=_MANIFEST_BYTES))
        return values["settings"] if values["sha256"] == run_hash(values["settings"]) else None
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return None


def _write_new(path: Path, pieces: Sequence[Any]) -> None:
    """Writes a file in the place of whatever bears its name."""
    path.unlink(missing_ok=True)
    with path.open("xb") as file:
        file.writelines(pieces)
