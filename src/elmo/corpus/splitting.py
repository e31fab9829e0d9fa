"""Which sentence of which part belongs to the training text, and which to a held-out one."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from elmo.corpus.documents import PieceEdges, is_held_out, joined
from elmo.corpus.parts import Part
from elmo.shapes import Int, UInt32

TRAIN, VALID, TEST = "train", "valid", "test"


@dataclass(frozen=True)
class TextFile:
    """A file of the corpus."""

    number: int
    """Its place among the files"""
    path: str
    split: str
    """The split it goes to, except for what is held out of it"""
    first_part: int
    """Its parts are `first_part` to the next file's, in the order of the text."""
    shares: bool = False
    """Whether some of its documents are held out"""


@dataclass(frozen=True)
class Piece:
    """What a split gets of a part."""

    split: str
    tokens: UInt32[np.ndarray, " tokens"] = field(repr=False)
    """Numbers of the part's words"""
    lengths: Int[np.ndarray, " sentences"] = field(repr=False)
    """Tokens of each sentence, int32"""
    num_documents: int
    """How many begin here; 0 where documents aren't recorded"""


PlacedPart = tuple[TextFile, Part, list[Piece]]
"""A part, the file it is from, and what each split gets of it."""


class PartedText:
    """The parts of all files in order, each with what goes where. It can be gone through again and again."""

    def __init__(
        self, files: Sequence[TextFile], num_parts: int, load: Callable[[int], Part], valid_share: float = 0.0
    ) -> None:
        """`valid_share`: the share of the documents that is held out, in files of which some are."""
        self.files = files
        self.num_parts = num_parts
        self._load = load
        self._valid_share = valid_share
        ends = [*(file.first_part for file in files[1:]), num_parts]
        self._ranges = [range(file.first_part, end) for file, end in zip(files, ends, strict=True)]
        self._edges = self._joined()

    def __iter__(self) -> Iterator[PlacedPart]:
        for file, indices in zip(self.files, self._ranges, strict=True):
            for index in indices:
                part = self._load(index)
                if file.shares:
                    yield file, part, self._shared(file, part, self._edges[index])
                else:
                    yield file, part, [Piece(file.split, part.tokens, part.lengths, 0)]

    def _joined(self) -> dict[int, PieceEdges]:
        """By part. Only the documents at the edges of parts are needed for it, so it takes little memory."""
        indices = [index for file, part in zip(self.files, self._ranges, strict=True) if file.shares for index in part]
        firsts = {file.first_part for file in self.files}
        edges = [self._load(index).documents.edges() for index in indices]
        return dict(zip(indices, joined(edges, [index in firsts for index in indices]), strict=True))

    def _shared(self, file: TextFile, part: Part, edges: PieceEdges) -> list[Piece]:
        documents = is_held_out(part.documents.completed(edges), self._valid_share)
        sentences = np.repeat(documents, np.diff(part.documents.starts, append=len(part.lengths)))
        tokens = np.repeat(sentences, part.lengths)
        begun = documents[0 if edges.begins else 1 :]
        return [
            Piece(split, part.tokens[tokens == held], part.lengths[sentences == held], int((begun == held).sum()))
            for split, held in ((file.split, False), (VALID, True))
        ]
