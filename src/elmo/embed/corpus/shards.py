"""Shards: the parts of a text that different machines embed, so that together they are the file of a single run.

A text's windows depend on the text alone, and a window's vectors on nothing outside it. So a shard is a range of whole
windows, about as many tokens as the others have; `join` puts their files together.
"""

import re
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from elmo.embed.windows import windows
from elmo.errors import ConfigError
from elmo.shapes import Int

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
            raise ConfigError(
                f"shard is {name!r}, but must be like 2/8: which one, from 1, a slash, and how many there are."
            )
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


def rows_of_shard(lengths: Int[np.ndarray, " rows"], shard: Shard, limits: tuple[int, int | None]) -> tuple[int, int]:
    """The first row of a shard, and the row after its last one.

    `lengths`: tokens of each row; `limits`: rows and tokens of a window. Raises ConfigError if there are fewer
    windows than shards.
    """
    borders = [0]
    for window in windows(map(int, lengths), *limits, length=int):
        borders.append(borders[-1] + len(window))
    if len(borders) <= shard.count:
        raise ConfigError(
            f"shard is {shard}, but the text is read in {len(borders) - 1} windows of up to {limits[0]:,} rows, which "
            f"are not divided. Use at most {max(1, len(borders) - 1)} shards."
        )
    return _fair(lengths, np.array(borders), shard)


def _fair(lengths: Int[np.ndarray, " rows"], borders: Int[np.ndarray, " borders"], shard: Shard) -> tuple[int, int]:
    """Each shard ends at the first border at or after its share of the tokens, but every one has a window."""
    tokens = np.concatenate([[0], np.cumsum(lengths + 2)])[borders]
    ends = [0]
    for index in range(1, shard.count + 1):
        wanted = int(np.searchsorted(tokens, tokens[-1] * index / shard.count))
        ends.append(min(max(wanted, ends[-1] + 1), len(borders) - 1 - (shard.count - index)))
    first, stop = list(pairwise(ends))[shard.index - 1]
    return int(borders[first]), int(borders[stop])
