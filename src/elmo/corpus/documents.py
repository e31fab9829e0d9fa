"""Documents: which of them are held out, always the same ones.

A document's hash is the sum of its rows' hashes, so that it can be cut anywhere; equal documents have equal hashes,
so they are all held out or none is. A row's hash is of its words, so it doesn't depend on tokenizers, line ends or
compression.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

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

    def edges(self) -> "PieceEdges":
        """What its neighbors need to know."""
        first, last = (int(self.hashes[0]), int(self.hashes[-1])) if len(self.hashes) else (0, 0)
        return PieceEdges(len(self.hashes), first, last, self.begins, self.ends)

    def completed(self, edges: "PieceEdges") -> UInt64[np.ndarray, " documents"]:
        """Hashes of whole documents; `edges`: what `joined` made of this part's."""
        hashes = self.hashes.copy()
        if len(hashes):
            hashes[0], hashes[-1] = edges.first, edges.last
        return hashes


@dataclass
class PieceEdges:
    """The first and the last document of a part."""

    count: int
    """Documents in this part, pieces included."""
    first: int
    """Hash of the first one"""
    last: int
    """Hash of the last one, which may be the first"""
    begins: bool
    ends: bool


def joined(parts: Sequence[PieceEdges], starts_file: Sequence[bool]) -> list[PieceEdges]:
    """Gives all pieces of a document the hash of the whole; `begins` then says whether the first one begins here.

    `parts`: of the text, in order; `starts_file`: whether each is the first one of a file, which begins a document.
    """
    found: list[PieceEdges] = []
    # The parts over which the last document so far stretches, and its hash.
    pieces: list[PieceEdges] = []
    total = 0
    for part, starts in zip(parts, starts_file, strict=True):
        whole = replace(part, begins=part.begins or starts or not pieces)
        found.append(whole)
        if whole.begins:
            pieces, total = [], 0
        if whole.count:
            total = (total + whole.first) % _RANGE
            _set_hash([*pieces, whole], whole, total)
            pieces, total = ([*pieces, whole], total) if whole.count == 1 else ([whole], whole.last)
        if whole.ends:
            pieces, total = [], 0
    return found


def _set_hash(pieces: Sequence[PieceEdges], last: PieceEdges, total: int) -> None:
    """In `last` the document is the first one, in the parts before it the last one."""
    for piece in pieces:
        if piece is last or piece.count == 1:
            piece.first = total
        if piece is not last or piece.count == 1:
            piece.last = total
