"""Parts: a block of text -> its sentences as numbers, with a list of words of its own; and which split gets them.

Parts know nothing of each other, so they can be made in any order, by any number of processes, and be kept.
`PartedText` puts them in order and divides their documents between the training text and the held-out one.
"""

import io
import json
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from elmo.corpus.block_reader import BlockReader, Recipe
from elmo.corpus.blocks import Block
from elmo.corpus.documents import DocumentPieces, Edges, is_held_out, joined
from elmo.disk.arrays import read_npz
from elmo.disk.bounded import read_bytes
from elmo.shapes import Int, UInt32

# A block has a few megabytes, if no line is longer.
_MAX_BYTES = 1 << 30
TRAIN, VALID, TEST = "train", "valid", "test"


@dataclass(frozen=True)
class Part:
    """The sentences of a block."""

    digest: str
    """Of the block it was made from."""
    words: list[str]
    """In the order of their numbers, which is that of their first occurrence."""
    tokens: UInt32[np.ndarray, " tokens"]
    """The numbers of all sentences end to end"""
    lengths: Int[np.ndarray, " sentences"]
    """Tokens of each, at least 1; int32"""
    blank_lines: int
    num_bad_lines: int
    bad_lines: list[str]
    """Messages of the first `BAD_LINES_LISTED`"""
    documents: DocumentPieces

    def save(self, path: Path) -> None:
        """Writes the part; the file appears whole or not at all."""
        facts = {
            "digest": self.digest,
            "words": len(self.words),
            "blank_lines": self.blank_lines,
            "num_bad_lines": self.num_bad_lines,
            "bad_lines": self.bad_lines,
            "begins": self.documents.begins,
            "ends": self.documents.ends,
        }
        arrays = {
            "facts": np.frombuffer(json.dumps(facts).encode(), np.uint8),
            "words": np.frombuffer("\n".join(self.words).encode(), np.uint8),
            "tokens": self.tokens,
            "lengths": self.lengths,
            "document_starts": self.documents.starts,
            "document_hashes": self.documents.hashes,
        }
        unfinished = path.with_suffix(".unfinished")
        with unfinished.open("wb") as file:
            np.savez(file, **arrays)
        unfinished.replace(path)

    @classmethod
    def load(cls, path: Path) -> "Part":
        """Reads a part; everything is checked, by checksums. OSError, ValueError or KeyError if it is damaged."""
        # In one piece: small reads of a zip file are slow.
        arrays = read_npz(io.BytesIO(read_bytes(path, limit=_MAX_BYTES)))
        facts = json.loads(arrays["facts"].tobytes())
        words = arrays["words"].tobytes().decode().split("\n") if facts["words"] else []
        starts, hashes = arrays["document_starts"], arrays["document_hashes"]
        return cls(
            facts["digest"],
            words,
            arrays["tokens"],
            arrays["lengths"],
            facts["blank_lines"],
            facts["num_bad_lines"],
            facts["bad_lines"],
            DocumentPieces(starts, hashes, facts["begins"], facts["ends"]),
        )


class WordNumbers(dict[str, int]):
    """Word -> number; looking up a new word gives it the next number."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


def number_block(block: Block, recipe: Recipe, check: Callable[[], None] | None = None) -> Part:
    """Makes a part of a block. `check` is called now and then, and may raise to stop.

    Raises TextError for lines that can't be read if `recipe.errors` is "strict", and for tokenizers that fail or give
    something that is not a token.
    """
    reader = BlockReader(block, recipe, check or (lambda: None))
    numbers = WordNumbers()
    number = numbers.__getitem__
    tokens, lengths = array("I"), array("i")
    for sentence in reader.sentences():
        lengths.append(len(sentence))
        tokens.extend(map(number, sentence))
    words = list(numbers)
    reader.check_words(words)
    return Part(
        block.digest,
        words,
        np.frombuffer(tokens, np.uint32) if tokens else np.zeros(0, np.uint32),
        np.frombuffer(lengths, np.int32) if lengths else np.zeros(0, np.int32),
        reader.blank_lines,
        reader.num_bad_lines,
        reader.bad_lines,
        reader.marks.done(),
    )


@dataclass(frozen=True)
class TextFile:
    """A file of the corpus."""

    number: int
    """Its place among the files"""
    path: str
    split: str
    """Its split, except for the documents held out of it"""
    first_part: int
    """Its parts are `first_part` to the next file's, in the order of the text."""
    shares: bool = False
    """Whether some of its documents are held out"""


@dataclass(frozen=True)
class Piece:
    """The sentences of a part that go to a split."""

    split: str
    tokens: UInt32[np.ndarray, " tokens"] = field(repr=False)
    """Numbers of the part's words"""
    lengths: Int[np.ndarray, " sentences"] = field(repr=False)
    """Tokens of each sentence, int32"""
    num_documents: int
    """How many begin here; 0 where documents aren't recorded"""


PlacedPart = tuple[TextFile, Part, list[Piece]]
"""A part, the file it is from, and its pieces."""


class PartedText:
    """The parts of all files in order, each with its pieces by split. It can be iterated over again and again."""

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

    def _joined(self) -> dict[int, Edges]:
        indices = [index for file, part in zip(self.files, self._ranges, strict=True) if file.shares for index in part]
        firsts = {file.first_part for file in self.files}
        documents = (self._load(index).documents for index in indices)
        return dict(zip(indices, joined(documents, (index in firsts for index in indices)), strict=True))

    def _shared(self, file: TextFile, part: Part, edges: Edges) -> list[Piece]:
        hashes = part.documents.hashes.copy()
        if len(hashes):
            hashes[0], hashes[-1] = edges.first, edges.last
        documents = is_held_out(hashes, self._valid_share)
        sentences = np.repeat(documents, np.diff(part.documents.starts, append=len(part.lengths)))
        tokens = np.repeat(sentences, part.lengths)
        begun = documents[0 if edges.begins else 1 :]
        return [
            Piece(split, part.tokens[tokens == held], part.lengths[sentences == held], int((begun == held).sum()))
            for split, held in ((file.split, False), (VALID, True))
        ]
