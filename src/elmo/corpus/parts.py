"""Parts: a block of text -> its sentences as numbers, with a list of words of its own.

Parts know nothing of each other, so they can be made in any order, by any number of processes, and be kept.
"""

import io
import json
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from elmo.corpus.block_reader import BlockReader, Recipe
from elmo.corpus.blocks import Block
from elmo.corpus.documents import DocumentPieces
from elmo.disk.arrays import read_npz
from elmo.disk.bounded import read_bytes
from elmo.shapes import Int, UInt32

# A block has a few megabytes, if no line is longer.
_MAX_BYTES = 1 << 30


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
        """Reads a part; everything is checked, by checksums. ValueError and the like if it is damaged."""
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
    reader = BlockReader(block, recipe, check or _do_nothing)
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


def _do_nothing() -> None:
    pass
