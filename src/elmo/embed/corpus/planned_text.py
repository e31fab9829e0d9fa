"""PlannedText: what a run embeds, as a first, cheap pass over the text found it: tokens of each row, and windows.

That pass finds every bad line before hours are spent. A text's windows depend on the text alone, and a window's vectors
on nothing outside it (but in carry mode). So a window can be embedded again on its own, and a shard is a range of whole
windows, about as many tokens as the others have.
"""

import re
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from elmo.disk.bounded import file_hash, file_version
from elmo.embed.corpus.text_source import TextSource, changed
from elmo.embed.windows import windows
from elmo.errors import ConfigError, Interrupted, TextError
from elmo.process.progress.report import Count, Progress
from elmo.shapes import Int
from elmo.text.formats.fasta import require_ids_differ

StopAsked = Callable[[], bool]

_ROWS_BETWEEN_CHECKS = 4096
_SHARD = re.compile(r"([1-9]\d{0,8})/([1-9]\d{0,8})", re.ASCII)


@dataclass(frozen=True)
class Shard:
    """Shard `index` of `count`, from 1."""

    index: int
    count: int

    @classmethod
    def of(cls, name: str) -> "Shard":
        """A shard written as "2/8". ConfigError for anything else."""
        match = _SHARD.fullmatch(name) if isinstance(name, str) else None
        if match is None or int(match[1]) > int(match[2]):
            raise ConfigError(f"shard must be like 2/8, the second of eight (got {name!r}). Count the shards from 1.")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


@dataclass(frozen=True)
class PlannedText:
    """A text, or the rows of a shard, and what it holds."""

    source: TextSource
    lengths: Int[np.ndarray, " rows"]
    """Tokens of each row: a sentence, or a blank line."""
    windows: list[range]
    """The rows that are embedded and stored together."""
    bad_lines: list[str]
    """A message for each line that could not be decoded."""
    bad_rows: list[int]
    """The row that each of them is, or would be."""
    sha256: str
    """Of the whole text."""
    num_bytes: int
    num_rows: int
    """Of the whole text."""
    versions: list[tuple[int, int, int]]
    """What tells whether its files were written to."""
    shard: Shard | None = None

    @property
    def num_tokens(self) -> int:
        """Tokens of all rows."""
        return int(self.lengths.sum())

    @property
    def num_blank_rows(self) -> int:
        """Rows without tokens, bad lines not counted: several of them may be one row, or none."""
        bad = {row for row in self.bad_rows if row < len(self.lengths) and not self.lengths[row]}
        return int((self.lengths == 0).sum()) - len(bad)

    def require_unchanged(self) -> None:
        """TextError if the text is another one than was counted: tokens would stand beside the vectors of others."""
        paths = self.source.paths
        try:
            is_same = [*map(file_version, paths)] == self.versions or file_hash(*paths) == self.sha256
        except FileNotFoundError:
            is_same = False
        if not is_same:
            raise TextError(changed(self.source.name, "other words stand there now"))

    def part(self, shard: Shard) -> "PlannedText":
        """The rows of a shard of this text. Raises ConfigError if there are fewer windows than shards."""
        chosen = windows_of_shard(self.lengths, self.windows, shard)
        first, stop = chosen[0].start, chosen[-1].stop
        bad = [place for place, row in enumerate(self.bad_rows) if first <= row < stop]
        return replace(
            self,
            source=replace(self.source, first=first, stop=stop),
            lengths=self.lengths[first:stop],
            windows=[range(it.start - first, it.stop - first) for it in chosen],
            bad_lines=[self.bad_lines[place] for place in bad],
            bad_rows=[self.bad_rows[place] - first for place in bad],
            shard=shard,
        )


def planned_text(
    source: TextSource, limits: tuple[int, int | None], progress: Progress, stop_asked: StopAsked | None
) -> PlannedText:
    """Reads the whole text once. `limits`: rows and tokens of a window.

    Raises TextError if the text is missing, empty or, with errors="strict", has a bad line.
    """
    lengths = array("q")  # 8 bytes a row, also of hundreds of millions
    bad_lines: list[str] = []
    bad_rows: list[int] = []
    versions = [file_version(path) for path in source.paths]
    num_bytes = sum(size for _, size, _ in versions)
    read = Count(progress, "reading", num_bytes, "bytes")

    def note(_: int, message: str) -> None:
        bad_lines.append(source.in_callers_words(message))
        bad_rows.append(len(lengths))

    ids: dict[str, str] = {}
    try:
        for row, place in enumerate(source.rows(note, read.add)):
            lengths.append(len(place.tokens))
            if place.id is not None and len(source.paths) > 1:  # those of one file differ
                require_ids_differ(ids, place.id, f"{source.paths[place.file]}:{place.line}")
            if stop_asked is not None and row % _ROWS_BETWEEN_CHECKS == 0 and stop_asked():
                raise Interrupted(f"{source.name}: interrupted while it was counted. Nothing is lost: start again.")
    except TextError as error:
        raise TextError(source.in_callers_words(str(error))) from None
    return PlannedText(
        source,
        np.array(lengths, dtype=np.int64),
        windows_of(lengths, limits),
        bad_lines,
        bad_rows,
        file_hash(*source.paths),
        num_bytes,
        len(lengths),
        versions,
    )


def windows_of(lengths: Iterable[int], limits: tuple[int, int | None]) -> list[range]:
    """The windows of rows of these lengths, of at most so many rows and tokens."""
    borders = [0]
    for window in windows(lengths, *limits, length=lambda tokens: tokens + 2):
        borders.append(borders[-1] + len(window))
    return [range(first, stop) for first, stop in pairwise(borders)]


def windows_of_shard(lengths: Int[np.ndarray, " rows"], windows: list[range], shard: Shard) -> list[range]:
    """Each shard ends at the first border at or after its share of the tokens, but every one has a window."""
    if len(windows) < shard.count:
        raise ConfigError(
            f"shard is {shard}, but the text has too few windows to divide: {len(windows)} (of up to "
            f"{max(map(len, windows)):,} rows each), and a window is never split. Use --shard I/N with N of at most "
            f"{len(windows)}."
        )
    tokens = np.concatenate([[0], np.cumsum(lengths + 2)])[[0, *(it.stop for it in windows)]]
    ends = [0]
    for index in range(1, shard.count + 1):
        wanted = int(np.searchsorted(tokens, tokens[-1] * index / shard.count))
        ends.append(min(max(wanted, ends[-1] + 1), len(windows) - (shard.count - index)))
    return windows[ends[shard.index - 1] : ends[shard.index]]
