"""Labelled columns: one token per line with its tag, a blank line between sentences -> tagged sentences, and back.

All rows have as many columns as the first; a `-DOCSTART-` line begins a document. `elmo.text.formats.columns` says what
separates columns and which lines are comments. Named entities and parts of speech are read here.
"""

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from elmo.errors import ConfigError, TextError
from elmo.tasks.labels import require_known_labels
from elmo.tasks.lines import in_token_column, reporting, text_lines
from elmo.tasks.tags import Span
from elmo.tasks.task import P, S, Task, TextReading, Vocabulary
from elmo.text.files.decoding import BadLine
from elmo.text.formats.columns import ColumnSentence, column_sentences, require_words
from elmo.text.reading.as_trained import as_trained

# Of a file, to see whether a column has words.
_SENTENCES_LOOKED_AT = 1000


@dataclass(frozen=True)
class TaggedSentence:
    """A sentence with a tag for each token."""

    tokens: list[str]
    spans: list[Span] = field(default_factory=list)
    """The entities that the tags say, if they are tags of entities."""
    rows: list[list[str]] = field(default_factory=list)
    """The columns of each token without the tag, as in the file."""
    tags: list[str] = field(default_factory=list)
    """The tag of each token; of entities "O", or like "B-PER", however the file writes it."""
    source: str = ""
    """The file's name."""
    lines: Sequence[int] = ()
    """The line of each token in it, from 1."""
    offsets: Sequence[tuple[int, int]] = ()
    """Beginning and end of each token in a line of raw text; () if there was none."""
    document: int | None = None
    """The number of its document in the file; None if the file isn't divided into documents."""


T = TypeVar("T", bound=TaggedSentence)


def tagged_rows(
    lines: Iterable[str], name: str, token_column: int, tag_column: int, on_bad: BadLine | None
) -> list[TaggedSentence]:
    """The sentences in the lines of the file `name`, with the tags as they are written; columns count from 1, 0: last.

    Raises TextError with file and line for rows of another number of columns and for empty cells, ConfigError for
    columns that the file doesn't have; with `on_bad`, such sentences are reported and left out.
    """
    blocks = list(column_sentences(lines, name, on_bad))
    filled = [it for it in blocks if it.rows]
    if not filled:
        return []
    width = len(filled[0].rows[0])
    places = _places(token_column, tag_column, width, f"{name}:{filled[0].lines[0]}")
    require_words([it.rows for it in filled[:_SENTENCES_LOOKED_AT]], places[0], name, "--token-column")
    found: list[TaggedSentence] = []
    document = 0
    for it in blocks:
        document += it.begins_document
        if it.rows:
            with reporting(on_bad, it.lines[0]):
                found.append(_sentence(it, name, width, places, document))
    return in_documents(found)


def _places(token_column: int, tag_column: int, width: int, where: str) -> tuple[int, int]:
    token_place, tag_place = ((column or width) - 1 for column in (token_column, tag_column))
    if width == 1:
        raise TextError(
            f"{where}: has one column, but each line must have a token and its tag, like 'Rome B-LOC'. Put the columns "
            "between spaces or tabs; text without tags is for 'elmo task predict'."
        )
    if token_place == tag_place or max(token_place, tag_place) >= width:
        raise ConfigError(
            f"{where}: the file has {width} columns, but the tokens would be read from column {token_place + 1} and "
            f"the tags from column {tag_place + 1}. Say which ones they are with --token-column and --tag-column, "
            "counted from 1."
        )
    return token_place, tag_place


def _sentence(block: ColumnSentence, name: str, width: int, places: tuple[int, int], document: int) -> TaggedSentence:
    token_place, tag_place = places
    for row, line in zip(block.rows, block.lines, strict=True):
        if len(row) != width:
            what = f"has {len(row)} columns, not {width}"
        elif not (row[token_place] and row[tag_place]):
            what = "has an empty token or tag"
        elif 0 < row[token_place].count(" ") == row[tag_place].count(" "):
            what = f"has a whole sentence for a token ({row[token_place]!r:.60})"
        else:
            continue
        raise TextError(
            f"{name}:{line}: {what}. Fix the line: one token per line, with the columns of the file's first one, and a "
            "blank line after each sentence."
        )
    tokens, tags = ([row[place] for row in block.rows] for place in places)
    others = [[cell for place, cell in enumerate(row) if place != tag_place] for row in block.rows]
    return TaggedSentence(as_trained(tokens), rows=others, tags=tags, source=name, lines=block.lines, document=document)


def in_documents(sentences: list[T]) -> list[T]:
    """The same; without numbers of documents if there is only one: a single -DOCSTART- at the top divides nothing."""
    if len({sentence.document for sentence in sentences}) > 1:
        return sentences
    return [replace(sentence, document=None) for sentence in sentences]


def write_columns(pairs: Iterable[tuple[TaggedSentence, Sequence[str]]], separator: str = " ") -> Iterator[str]:
    """One line per token: its columns, its own tag if it had one, and the predicted tag; a blank line ends a sentence.

    This is what conlleval reads. Columns are separated by tabs instead of `separator` if a cell of the file contains a
    space or is empty; a sentence without tags of its own, of which there may be any number, decides for itself.
    """
    left = iter(pairs)
    for first in left:
        together = [first, *left] if first[0].tags else [first]
        blocks = [_columns(sentence, predicted) for sentence, predicted in together]
        cells = (cell for block in blocks for row in block for cell in row)
        between = "\t" if any(" " in cell or not cell for cell in cells) else separator
        for block in blocks:
            yield from map(between.join, block)
            yield ""


def _columns(sentence: TaggedSentence, predicted: Sequence[str]) -> list[list[str]]:
    rows = sentence.rows or [[token] for token in sentence.tokens]
    return [[*row, *sentence.tags[place : place + 1], predicted[place]] for place, row in enumerate(rows)]


def column_as_written(token_column: int, tag_column: int) -> int:
    """The column of the tokens in what `write_columns` made of a file in which they had these columns."""
    return token_column - (0 < tag_column < token_column)


class ColumnTask(Task[S, TaggedSentence, P]):
    """A task whose examples are sentences in columns."""

    needs_input = True

    def read_unlabelled(self, path: Path | str, settings: S, reading: TextReading) -> Iterator[TaggedSentence]:
        column: int = settings.own.token_column
        lines = text_lines(path, in_token_column(path, reading, column) if column > 1 else reading)
        return (TaggedSentence(line.tokens, offsets=line.offsets) for line in lines)

    def group(self, example: TaggedSentence, place: int) -> Hashable:
        return place if example.document is None else ("document", example.document)

    def sentences(self, example: TaggedSentence) -> list[list[str]]:
        return [example.tokens]

    @abstractmethod
    def labels_of(self, example: TaggedSentence) -> Iterable[tuple[int, str]]:
        """The labels that can be learned from a sentence, each with the place of its token."""

    def check(self, examples: list[TaggedSentence], vocabulary: Vocabulary, settings: S) -> None:
        placed = ((it, place, label) for it in examples for place, label in self.labels_of(it))
        labels = ((label, f"{it.source}:{it.lines[place]}") for it, place, label in placed)
        require_known_labels(labels, vocabulary["labels"], settings)


def with_places(sentences: Iterable[TaggedSentence]) -> Iterator[tuple[str, list[str]]]:
    """The tokens of sentences of a file, each with its file and line."""
    return ((f"{sentence.source}:{sentence.lines[0]}", sentence.tokens) for sentence in sentences)
