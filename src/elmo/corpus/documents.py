"""Documents: which of them are held out, always the same ones.

A document's hash is the sum of its rows' hashes, so that it can be cut anywhere; equal documents have equal hashes,
so they are all held out or none is. A row's hash is of its words, so it doesn't depend on tokenizers, line ends or
compression.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from elmo.shapes import Bool, Int, UInt64

Documents = Literal["file", "block", "row"]

_RANGE = 1 << 64


def row_hash(row: str | list[str]) -> int:
    """From 0 to 2^64 - 1."""
    text = " ".join(row.split() if isinstance(row, str) else row)
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def is_held_out(hashes: UInt64[np.ndarray, " documents"], share: float) -> Bool[np.ndarray, " documents"]:
    """Whether each document belongs to the `share` that is held out."""
    return hashes < np.uint64(min(int(share * _RANGE), _RANGE - 1))


class DocumentMarks:
    """Records where documents begin while a part's rows are read."""

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.hashes: list[int] = []
        self._begins = False
        self._due = False

    def end(self) -> None:
        """What comes next is another document."""
        self._due = True

    def row(self, row: str | list[str], sentences_before: int) -> None:
        """A row that isn't blank; `sentences_before`: sentences of the part before it."""
        if not self.starts:
            self._begins = self._due
        if self._due or not self.starts:
            self.starts.append(sentences_before)
            self.hashes.append(0)
            self._due = False
        self.hashes[-1] = (self.hashes[-1] + row_hash(row)) % _RANGE

    def done(self) -> "DocumentPieces":
        """All that was noted."""
        return DocumentPieces(
            np.array(self.starts, dtype=np.int64), np.array(self.hashes, dtype=np.uint64), self._begins, self._due
        )


@dataclass(frozen=True)
class DocumentPieces:
    """The documents of a part of a text, the first and last of which may be pieces of longer ones."""

    starts: Int[np.ndarray, " documents"]
    """The first sentence of each in the part, int64"""
    hashes: UInt64[np.ndarray, " documents"]
    """Of the rows that are in the part"""
    begins: bool
    """Whether the first one begins in this part."""
    ends: bool
    """Whether the last one (or the one before, if this part has none) ends in this part."""


class Edges(NamedTuple):
    """The documents that a part's first and last pieces belong to."""

    begins: bool
    """Whether the first one begins in this part."""
    first: int
    """The hash of all of it."""
    last: int


def joined(parts: Iterable[DocumentPieces], starts_file: Iterable[bool]) -> list[Edges]:
    """Gives all pieces of a document the hash of the whole.

    `parts`: of the text, in order; `starts_file`: whether each is the first one of a file, which begins a document.
    """
    totals: list[int] = []  # of the documents at the edges of parts
    found: list[Edges] = []
    goes_on = False
    for part, starts in zip(parts, starts_file, strict=True):
        begins = part.begins or starts or not goes_on
        goes_on = not begins or len(part.hashes) > 0
        if begins:
            totals.append(0)
        first = len(totals) - 1
        if len(part.hashes):
            totals[first] += int(part.hashes[0])
            totals += part.hashes[1:][-1:].tolist()
        found.append(Edges(begins, first, len(totals) - 1))
        goes_on = goes_on and not part.ends
    return [Edges(begins, totals[first] % _RANGE, totals[last] % _RANGE) for begins, first, last in found]
