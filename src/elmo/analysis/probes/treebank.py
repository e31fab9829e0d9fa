"""Words and their part-of-speech tags from CoNLL-U files."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from elmo.errors import TextError
from elmo.text.formats.lines import utf8_lines

TagColumn = Literal["upos", "xpos"]
"""UPOS: the 17 tags that all languages share; XPOS: the treebank's own (for English, those of the Penn Treebank)."""

_PLACES: dict[TagColumn, int] = {"upos": 3, "xpos": 4}
_COLUMNS = 10


@dataclass(frozen=True)
class TaggedSentence:
    """The words of a sentence, and a tag for each."""

    tokens: tuple[str, ...]
    tags: tuple[str, ...]


def read_treebank(path: Path | str, column: TagColumn = "xpos") -> list[TaggedSentence]:
    """The sentences of a CoNLL-U file; multiword tokens and empty nodes are left out.

    Raises TextError with file and line for a line without ten columns, without a tag or not in UTF-8, and for a file
    without words.
    """
    sentences = list(_sentences(utf8_lines(path), str(path), column))
    if not sentences:
        raise TextError(
            f"{path}: has no words. Name a CoNLL-U file: ten columns with tabs between them, a word per line."
        )
    return sentences


def _sentences(lines: Iterator[str], name: str, column: TagColumn) -> Iterator[TaggedSentence]:
    words: list[tuple[str, str]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            if words:
                yield _sentence(words)
            words = []
        elif not line.startswith("#"):
            columns = line.split("\t")
            if len(columns) != _COLUMNS:
                raise TextError(
                    f"{name}:{number}: has {len(columns)} columns, but CoNLL-U has {_COLUMNS}. Fix the line."
                )
            if columns[0].isdecimal():
                words.append((columns[1], _tag(columns, name, number, column)))
    if words:
        yield _sentence(words)


def _sentence(words: list[tuple[str, str]]) -> TaggedSentence:
    return TaggedSentence(tuple(word for word, _ in words), tuple(tag for _, tag in words))


def _tag(columns: list[str], name: str, number: int, column: TagColumn) -> str:
    tag = columns[_PLACES[column]]
    if tag in ("", "_"):
        raise TextError(
            f"{name}:{number}: the word {columns[1]!r} has no {column.upper()}. Choose the other column (--tags), or "
            "fix the line."
        )
    return tag
