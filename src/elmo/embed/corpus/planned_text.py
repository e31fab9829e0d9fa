"""PlannedText: what a run embeds, as one pass over the text found it: its rows, their lengths, and windows.

That pass finds every bad line before hours are spent. A text's windows depend on the text alone, and a window's vectors
on nothing outside it (but in carry mode). So a window can be embedded again on its own.
"""

from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from elmo.disk.bounded import file_hash
from elmo.embed.corpus.kept_rows import KeptRows
from elmo.embed.corpus.text_source import TextSource
from elmo.embed.windows import windows
from elmo.errors import Interrupted, TextError
from elmo.process.progress.report import Count, Progress
from elmo.shapes import Int
from elmo.text.formats.fasta import require_ids_differ

StopAsked = Callable[[], bool]
WindowLimits = tuple[int, int | None]
"""Rows and tokens of a window at most."""

_ROWS_BETWEEN_CHECKS = 4096


@dataclass(frozen=True)
class PlannedText:
    """A text, and what it holds."""

    source: TextSource
    limits: WindowLimits
    rows: KeptRows
    """Its sentences and blank lines."""
    lengths: Int[np.ndarray, " rows"]
    """Tokens of each row."""
    windows: list[range]
    """The rows that are embedded and stored together."""
    bad_lines: list[str]
    """A message for each line that could not be decoded."""
    bad_rows: list[int]
    """The row that each of them is, or would be."""
    sha256: str
    num_bytes: int

    @property
    def num_tokens(self) -> int:
        """Tokens of all rows."""
        return int(self.lengths.sum())

    @property
    def num_blank_rows(self) -> int:
        """Rows without tokens, bad lines not counted: several of them may be one row, or none."""
        bad = {row for row in self.bad_rows if row < len(self.lengths) and not self.lengths[row]}
        return int((self.lengths == 0).sum()) - len(bad)


def planned_text(
    source: TextSource, limits: WindowLimits, rows: KeptRows, progress: Progress, stop_asked: StopAsked | None
) -> PlannedText:
    """Reads the whole text once, into `rows`.

    Raises TextError if the text is missing, empty or, with errors="strict", has a bad line.
    """
    lengths = array("q")  # 8 bytes a row, also of hundreds of millions
    bad_lines: list[str] = []
    bad_rows: list[int] = []
    sha256 = file_hash(*source.paths)
    num_bytes = sum(path.stat().st_size for path in source.paths)
    read = Count(progress, "reading", num_bytes, "bytes")

    def note(_: int, message: str) -> None:
        bad_lines.append(source.in_callers_words(message))
        bad_rows.append(len(lengths))

    ids: dict[str, str] = {}
    try:
        for row, place in enumerate(source.rows(note, read.add)):
            lengths.append(len(place.tokens))
            rows.add(place)
            if place.id is not None and len(source.paths) > 1:  # those of one file differ
                require_ids_differ(ids, place.id, f"{source.paths[place.file]}:{place.line}")
            if stop_asked is not None and row % _ROWS_BETWEEN_CHECKS == 0 and stop_asked():
                raise Interrupted(f"{source.name}: interrupted while it was counted. Nothing is lost: start again.")
    except TextError as error:
        raise TextError(source.in_callers_words(str(error))) from None
    rows.finish()
    found = np.array(lengths, dtype=np.int64)
    return PlannedText(source, limits, rows, found, windows_of(lengths, limits), bad_lines, bad_rows, sha256, num_bytes)


def windows_of(lengths: Iterable[int], limits: WindowLimits) -> list[range]:
    """The windows of rows of these lengths."""
    borders = [0]
    for window in windows(lengths, *limits, length=lambda tokens: tokens + 2):
        borders.append(borders[-1] + len(window))
    return [range(first, stop) for first, stop in pairwise(borders)]
