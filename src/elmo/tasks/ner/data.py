"""CoNLL columns: one token per line, a blank line between sentences -> tagged sentences, and back.

Any number of columns, all lines with as many as the first; a `-DOCSTART-` line begins a document.
`elmo.text.formats.columns` says what separates columns and which lines are comments.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from elmo.errors import ConfigError, TextError
from elmo.tasks.labels.labelled_lines import labelled_lines, nothing_in
from elmo.tasks.tags import OUTSIDE, PREFIXES, SchemeFound, Span, follows, scheme_of, spans_of, split_tag
from elmo.text.files.text_file import text_name
from elmo.text.formats.columns import column_sentences, require_words

SchemeChoice = Literal["auto", "iob1", "iob2", "ioe", "bioul", "any"]

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
    """The tag of each token, as in the file."""
    source: str = ""
    """The file's name."""
    lines: Sequence[int] = ()
    """The line of each token in it, from 1."""
    offsets: Sequence[tuple[int, int]] = ()
    """Beginning and end of each token in a line of raw text; () if there was none."""
    document: int | None = None
    """The number of its document in the file; None if the file isn't divided into documents."""


def read_columns(
    path: Path | str,
    *,
    token_column: int = 1,
    tag_column: int = 0,
    scheme: SchemeChoice = "auto",
    encoding: str = "utf-8",
) -> list[TaggedSentence]:
    """The sentences of a file.

    `token_column`, `tag_column`: counted from 1; 0 is the last one. `scheme`: of the tags; "auto" detects it; "any"
    accepts every sequence by conlleval's rules, also what no scheme allows. Raises TextError with file and line for
    ragged columns, tags that are none, and sequences that the scheme doesn't allow.
    """
    sentences = list(_read(path, token_column, tag_column, encoding))
    if not sentences:
        raise nothing_in(path, "sentence")
    found = scheme_of(sentence.tags for sentence in sentences) if scheme == "auto" else scheme
    if found != "any":
        for sentence in sentences:
            _check_sequence(sentence, found, scheme == "auto")
    if len({sentence.document for sentence in sentences}) == 1:  # a single -DOCSTART- at the top divides nothing
        return [replace(sentence, document=None) for sentence in sentences]
    return sentences


def write_columns(pairs: Iterable[tuple[TaggedSentence, Sequence[str]]]) -> Iterator[str]:
    """One line per token: its columns, its own tag if it had one, and the predicted tag; a blank line ends a sentence.

    This is what conlleval reads. Columns are separated by spaces, or by tabs if a column contains a space.
    """
    for sentence, predicted in pairs:
        rows = sentence.rows or [[token] for token in sentence.tokens]
        columns = [[*row, *sentence.tags[place : place + 1], predicted[place]] for place, row in enumerate(rows)]
        separator = "\t" if any(" " in column for row in columns for column in row) else " "
        yield from (separator.join(row) for row in columns)
        yield ""


def _read(path: Path | str, token_column: int, tag_column: int, encoding: str) -> Iterator[TaggedSentence]:
    name = text_name(path)
    found = [it for it in column_sentences(labelled_lines(path, encoding), name) if it.rows or it.begins_document]
    num_columns, places, document = 0, (0, 0), 0
    for sentence in found:
        document += sentence.begins_document
        for row, number in zip(sentence.rows, sentence.lines, strict=True):
            if not num_columns:
                num_columns = len(row)
                places = _places(token_column, tag_column, num_columns, f"{name}:{number}")
                sample = [it.rows for it in found[:_SENTENCES_LOOKED_AT]]
                require_words(sample, places[0], name, "--token-column")
            _check_row(row, num_columns, places, f"{name}:{number}")
        if sentence.rows:
            yield _sentence(name, sentence.rows, sentence.lines, places, document)


def _places(token_column: int, tag_column: int, num_columns: int, where: str) -> tuple[int, int]:
    found = []
    for flag, column in (("token_column", token_column), ("tag_column", tag_column)):
        if not 0 <= column <= num_columns:
            raise ConfigError(
                f"{where}: {flag} is {column}, but the file has {num_columns} columns. Count from 1; 0 is the last one."
            )
        found.append(column - 1 if column else num_columns - 1)
    if num_columns == 1:
        raise TextError(
            f"{where}: has one column, but each line must have a token and its tag, like 'Rome B-LOC'. Put the columns "
            "between spaces or tabs; text without tags is for 'elmo task predict'."
        )
    if found[0] == found[1]:
        raise ConfigError(
            f"{where}: the tokens and the tags would both be read from column {found[0] + 1} of {num_columns}. Say "
            "which ones they are with --token-column and --tag-column."
        )
    return found[0], found[1]


def _check_row(row: list[str], num_columns: int, places: tuple[int, int], where: str) -> None:
    if len(row) != num_columns:
        columns = "one column" if len(row) == 1 else f"{len(row)} columns"
        raise TextError(
            f"{where}: has {columns}, but the first line of the file has {num_columns}. Fix the line; a sentence ends "
            "with a blank line."
        )
    token, tag = row[places[0]], row[places[1]]
    if not token:
        raise TextError(f"{where}: column {places[0] + 1}, the token, is empty. Fix the line.")
    prefix, label = split_tag(tag)
    if tag != OUTSIDE and (prefix not in PREFIXES or not label):
        raise TextError(
            f"{where}: the tag is {tag!r}, but tags are 'O' or like 'B-PER', with one of "
            f"{', '.join(sorted(PREFIXES))} before the label. Fix it, or say which column has the tags with "
            "--tag-column."
        )


def _sentence(
    name: str, rows: list[list[str]], lines: list[int], places: tuple[int, int], document: int
) -> TaggedSentence:
    tags = [row[places[1]] for row in rows]
    others = [[column for place, column in enumerate(row) if place != places[1]] for row in rows]
    return TaggedSentence(
        [row[places[0]] for row in rows], spans_of(tags), others, tags, name, lines, document=document
    )


def _check_sequence(sentence: TaggedSentence, scheme: SchemeFound, guessed: bool) -> None:
    tags = [OUTSIDE, *sentence.tags, OUTSIDE]
    for place, (before, tag) in enumerate(zip(tags[:-1], tags[1:], strict=True)):
        if follows(before, tag, scheme):
            continue
        is_end = place == len(sentence.tags)
        where = f"{sentence.source}:{sentence.lines[min(place, len(sentence.tags) - 1)]}"
        what = f"the sentence ends after {before!r}" if is_end else f"{tag!r} comes after {before!r}"
        found = f"{scheme.upper()}{', which the other tags of the file are in' if guessed else ''}"
        raise TextError(
            f"{where}: {what}, which is not a sequence of {found}. Fix the tags, say what they are with --scheme, or "
            "read them as conlleval does with --scheme any."
        )
