"""CoNLL columns: one token per line, a blank line between sentences -> tagged sentences, and back.

Any number of columns, all lines with as many as the first; a `-DOCSTART-` line begins a document. In a file of two
columns the tags may come first, and a first column that counts the tokens doesn't have the words.
`elmo.text.formats.columns` says what separates columns and which lines are comments.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeVar

from elmo.errors import ConfigError, TextError
from elmo.tasks.labelled_lines import labelled_lines, nothing_in, reporting, skipping
from elmo.tasks.ner.settings import SchemeChoice, TaggerSettings
from elmo.tasks.tags import (
    IO,
    OUTSIDE,
    PREFIXES,
    Notation,
    SchemeFound,
    Span,
    follows,
    notation_of,
    scheme_of,
    spans_of,
    split_tag,
)
from elmo.text.files.decoding import BadLine, report
from elmo.text.files.text_file import text_name
from elmo.text.formats.columns import ColumnSentence, column_of_words, column_sentences, require_words, why_not_words
from elmo.text.reading.as_trained import as_trained

# Of a file, to see which column has its words.
_SENTENCES_LOOKED_AT = 1000


@dataclass(frozen=True)
class TaggedSentence:
    """A sentence with its entities."""

    tokens: list[str]
    spans: list[Span] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    """The columns of each token without the tag, as in the file."""
    tags: list[str] = field(default_factory=list)
    """The tag of each token: "O", or like "B-PER", however the file writes it."""
    source: str = ""
    """The file's name."""
    lines: Sequence[int] = ()
    """The line of each token in it, from 1."""
    offsets: Sequence[tuple[int, int]] = ()
    """Beginning and end of each token in a line of raw text; () if there was none."""
    document: int | None = None
    """The number of its document in the file; None if the file isn't divided into documents."""


T = TypeVar("T", bound=TaggedSentence)


def read_columns(path: Path | str, settings: TaggerSettings) -> list[TaggedSentence]:
    """The sentences of a file.

    Raises TextError with file and line for ragged columns, cells that aren't tags, and sequences that the scheme
    doesn't allow; with `errors="skip"` such sentences are left out, and a TextWarning counts them.
    """
    name = text_name(path)
    with skipping(path, settings.errors) as on_bad:
        blocks = list(column_sentences(labelled_lines(path, settings.encoding, on_bad), name, on_bad))
        sentences = list(_read(blocks, name, settings, on_bad))
        found, shown = _scheme(sentences, settings.scheme)
        if found != "any":
            sentences = [it for it in sentences if _is_sequence(it, found, shown, on_bad)]
    if not sentences:
        raise nothing_in(path, "sentence")
    return in_documents(sentences)


def in_documents(sentences: list[T]) -> list[T]:
    """The same; without numbers of documents if there is only one: a single -DOCSTART- at the top divides nothing."""
    if len({sentence.document for sentence in sentences}) > 1:
        return sentences
    return [replace(sentence, document=None) for sentence in sentences]


def sound_blocks(
    blocks: Iterable[ColumnSentence], name: str, check: Callable[[list[str], str], None], on_bad: BadLine | None
) -> Iterator[tuple[ColumnSentence, int]]:
    """Each block that has rows, with the number of its document; what `check(row, where)` refuses is reported."""
    document = 0
    for block in blocks:
        document += block.begins_document
        if block.rows:
            with reporting(on_bad, block.lines[0]):
                for row, number in zip(block.rows, block.lines, strict=True):
                    check(row, f"{name}:{number}")
                yield block, document


def require_width(row: Sequence[str], num_columns: int, where: str) -> None:
    """TextError for a row of another number of columns than the first one."""
    if len(row) != num_columns:
        columns = "one column" if len(row) == 1 else f"{len(row)} columns"
        raise TextError(
            f"{where}: has {columns}, but the first line of the file has {num_columns}. Fix the line; a sentence ends "
            "with a blank line."
        )


def require_filled(row: Sequence[str], place: int, what: str, where: str) -> None:
    """TextError for an empty cell."""
    if not row[place]:
        raise TextError(f"{where}: column {place + 1}, the {what}, is empty. Fix the line.")


def require_place(place: int, num_columns: int, flag: str, where: str) -> None:
    """ConfigError for a column, from 0, that the file doesn't have."""
    if not 0 <= place < num_columns:
        raise ConfigError(
            f"{where}: {flag} is {place + 1}, but the file has {num_columns} columns. Count from 1; 0 is the default."
        )


def require_two_columns(num_columns: int, example: str, where: str) -> None:
    """TextError for a file of one column; `example`: a row as it must be."""
    if num_columns == 1:
        raise TextError(
            f"{where}: has one column, but each line must have a token and its tag, like {example!r}. Put the columns "
            "between spaces or tabs; text without tags is for 'elmo task predict'."
        )


def require_distinct(token_place: int, tag_place: int, num_columns: int, where: str) -> None:
    """ConfigError if tokens and tags would be read from one column."""
    if token_place == tag_place:
        raise ConfigError(
            f"{where}: the tokens and the tags would both be read from column {tag_place + 1} of {num_columns}. Say "
            "which ones they are with --token-column and --tag-column."
        )


def write_columns(pairs: Iterable[tuple[TaggedSentence, Sequence[str]]]) -> Iterator[str]:
    """One line per token: its columns, its own tag if it had one, and the predicted tag; a blank line ends a sentence.

    This is what conlleval reads. Columns are separated by spaces, or by tabs if a cell of the file contains a space or
    is empty; a sentence without tags of its own, of which there may be any number, decides for itself.
    """
    left = iter(pairs)
    for first in left:
        together = [first, *left] if first[0].tags else [first]
        blocks = [_columns(sentence, predicted) for sentence, predicted in together]
        cells = (cell for block in blocks for row in block for cell in row)
        separator = "\t" if any(" " in cell or not cell for cell in cells) else " "
        for block in blocks:
            yield from map(separator.join, block)
            yield ""


def _columns(sentence: TaggedSentence, predicted: Sequence[str]) -> list[list[str]]:
    rows = sentence.rows or [[token] for token in sentence.tokens]
    return [[*row, *sentence.tags[place : place + 1], predicted[place]] for place, row in enumerate(rows)]


def _read(
    found: Sequence[ColumnSentence], name: str, settings: TaggerSettings, on_bad: BadLine | None
) -> Iterator[TaggedSentence]:
    first = next((it for it in found if it.rows), None)
    if first is None:
        return
    where, num_columns = f"{name}:{first.lines[0]}", len(first.rows[0])
    sample = [it.rows for it in found[:_SENTENCES_LOOKED_AT] if it.rows]
    columns = settings.token_column, settings.tag_column
    if columns[0] == 1 and (why_not_words(sample, 0) or "").startswith("counts"):
        columns = (column_of_words(sample) or 0) + 1, columns[1]
    places = _places(columns, num_columns, where, sample)
    if settings.scheme != "any" and columns[1] == 0:  # files of predictions have theirs last, beside the gold tags
        _require_one_column_of_tags(sample, num_columns, places[0], where)
    require_words(sample, places[0], name, "--token-column")
    cells = (row[places[1]] for it in found for row in it.rows if len(row) == num_columns)
    notation = IO if settings.scheme == "io" else notation_of(cells)

    def check(row: list[str], where: str) -> None:
        require_width(row, num_columns, where)
        require_filled(row, places[0], "token", where)
        _require_tag(row[places[1]], notation, where)

    for it, document in sound_blocks(found, name, check, on_bad):
        yield _sentence(name, it.rows, it.lines, places, notation, document)


def _places(
    columns: tuple[int, int], num_columns: int, where: str, sample: Sequence[Sequence[Sequence[str]]]
) -> tuple[int, int]:
    token_place, tag_place = ((column or num_columns) - 1 for column in columns)
    require_place(token_place, num_columns, "token_column", where)
    require_place(tag_place, num_columns, "tag_column", where)
    require_two_columns(num_columns, "Rome B-LOC", where)
    require_distinct(token_place, tag_place, num_columns, where)
    if columns[1] == 0 and num_columns == 2 and _labels(sample, 0) and _labels(sample, 1) is None:
        return 1, 0  # tags before tokens
    return token_place, tag_place


def _labels(sample: Sequence[Sequence[Sequence[str]]], column: int) -> set[str] | None:
    """The labels of a column whose cells are all tags with a prefix or O; None for another column."""
    tags = {row[column] for rows in sample for row in rows if column < len(row)} - {OUTSIDE}
    parts = [split_tag(tag) for tag in tags]
    return {label for _, label in parts} if all(prefix in PREFIXES and label for prefix, label in parts) else None


def _require_one_column_of_tags(
    sample: Sequence[Sequence[Sequence[str]]], num_columns: int, token_place: int, where: str
) -> None:
    """TextError if the last two columns have tags of the same labels, so that either may be meant."""
    inner, outer = (_labels(sample, num_columns - back) for back in (1, 2))
    # Beside a column that counts the tokens, a last one without any label is GermEval's too.
    is_empty = inner == set() and token_place > 0
    if outer and inner is not None and (inner or is_empty) and inner <= outer and token_place != num_columns - 2:
        raise TextError(
            f"{where}: columns {num_columns - 1} and {num_columns} both have tags of the labels "
            f"{', '.join(sorted(outer)[:3])}, as GermEval has outer and inner entities. Say which ones are learned: "
            f"--tag-column {num_columns - 1} (the outer ones) or --tag-column {num_columns}."
        )


def _require_tag(tag: str, notation: Notation, where: str) -> None:
    if notation.plain(tag) is None:
        prefixes = "" if notation is IO else f", with one of {', '.join(sorted(PREFIXES))}, M or W"
        other = "tags with prefixes without --scheme io" if notation is IO else "labels without prefixes by --scheme io"
        raise TextError(
            f"{where}: the tag is {tag!r}, but tags are {notation.outside!r} or like {notation.example!r}{prefixes}. "
            f"Fix it, or say which column has the tags with --tag-column; read {other}."
        )


def _sentence(
    name: str, rows: list[list[str]], lines: list[int], places: tuple[int, int], notation: Notation, document: int
) -> TaggedSentence:
    tags = [notation.plain(row[places[1]]) or OUTSIDE for row in rows]
    others = [[column for place, column in enumerate(row) if place != places[1]] for row in rows]
    tokens = as_trained([row[places[0]] for row in rows])
    return TaggedSentence(tokens, spans_of(tags), others, tags, name, lines, document=document)


def _scheme(sentences: Sequence[TaggedSentence], scheme: SchemeChoice) -> tuple[SchemeFound | Literal["any"], str]:
    """The scheme that the tags must be in, and what messages call it."""
    if scheme == "auto":
        found = scheme_of(sentence.tags for sentence in sentences)
        return found, f"{found.upper()}, which the other tags of the file are in"
    return ("iob1", "IO") if scheme == "io" else (scheme, scheme.upper())


def _is_sequence(sentence: TaggedSentence, scheme: SchemeFound, shown: str, on_bad: BadLine | None) -> bool:
    """Whether the scheme allows the tags; TextError if it doesn't and there is no `on_bad`."""
    tags = [OUTSIDE, *sentence.tags, OUTSIDE]
    for place, (before, tag) in enumerate(zip(tags[:-1], tags[1:], strict=True)):
        if follows(before, tag, scheme):
            continue
        is_end = place == len(sentence.tags)
        line = sentence.lines[min(place, len(sentence.tags) - 1)]
        what = f"the sentence ends after {before!r}" if is_end else f"{tag!r} comes after {before!r}"
        message = (
            f"{sentence.source}:{line}: {what}, which is not a sequence of {shown}. Fix the tags, say what they are "
            "with --scheme, or read them as conlleval does with --scheme any."
        )
        report(on_bad, line, message)
        return False
    return True
