"""Rows: the lines of a file in one of the known formats -> texts, or lists of tokens.

JSON lines: each line an object, one field of which is a text or a list of tokens. CoNLL columns: the tokens are in the
first column, as in CoNLL-2000 and CoNLL-2003, or in the one whose number is given: 2 in CoNLL-X and CoNLL-2009, 4 in
CoNLL-2012; `columns` splits the columns. Tables are read by `table`, treebanks by `conllu`, proteins by `fasta`.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from elmo.disk.bounded import shown
from elmo.errors import ConfigError
from elmo.text.files.decoding import BadLine, report
from elmo.text.files.text_file import Format
from elmo.text.formats.columns import UNDECODABLE, column_sentences, words_alone
from elmo.text.formats.conllu import treebank_sentences
from elmo.text.formats.fasta import FastaRecord, fasta_records
from elmo.text.formats.form import Form
from elmo.text.formats.table import header_of, table_rows
from elmo.text.sentence_checks import checked_sentence
from elmo.text.word_list import has_surrogate, invalid_token_reason

_SKIPPING = ", or use --errors skip to list and skip such sentences"


def conll_sentences(
    lines: Iterable[str],
    name: str,
    field: str,
    on_bad_line: BadLine | None,
    first: int = 1,
    on_new_document: Callable[[], None] | None = None,
) -> Iterator[list[str]]:
    """The sentences of `lines`; a bad one is a TextError that names its line, or, if `on_bad_line` is given, `[]`.

    `field`: the number of the tokens' column, from 1; any other text: the first one.
    """
    column = int(field) if field.isdecimal() and int(field) else 1
    for sentence in column_sentences(lines, name, on_bad_line, first, advice=_SKIPPING):
        if sentence.begins_document and on_new_document is not None:
            on_new_document()
        tokens: list[str] = []
        if column > 1:  # the first one may have CoNLL-U's IDs
            sentence = words_alone(sentence)
        for row, number in zip(sentence.rows, sentence.lines, strict=True):
            if why := _odd(row, column):
                message = f"{name}:{number}: {why}{_SKIPPING}."
                report(on_bad_line, number, message)
                tokens = []
                break
            tokens.append(row[column - 1])
        if sentence.rows or sentence.is_bad:
            yield tokens


def _odd(row: list[str], column: int) -> str | None:
    """Why there is no token in a row, and the next step."""
    if len(row) < column:
        return f"there are {len(row)} columns, so there is no token in column {column}. Name another with --field"
    token = row[column - 1]
    if why := invalid_token_reason(token) or (None if token else "is empty"):
        return f"the token in column {column} is {token!r:.60}, which {why}. Fix the line, name another with --field"
    return None


_FIELDS_NAMED = 8


def jsonl_rows(
    lines: Iterable[str], name: str, field: str, on_bad_line: BadLine | None, first: int = 1
) -> Iterator[str | list[str]]:
    """The value of `field` in each line: a text, or a list of tokens; '' for a blank line and for null, as in CSV.

    A line that isn't such an object is a TextError, or, with `on_bad_line`, ''. `first`: the number of the
    first line.
    """
    for number, line in enumerate(lines, start=first):
        if not line.strip():
            yield ""
            continue
        row = _content(line, field)
        if isinstance(row, _Wrong):
            message = f"{name}:{number}: {row.what}. {row.step}, or use --errors skip to list and skip such lines."
            report(on_bad_line, number, message)
            row = ""
        yield row


class _Wrong(NamedTuple):
    """Why a line can't be used, and the next step."""

    what: str
    step: str


def _content(line: str, field: str) -> str | list[str] | _Wrong:
    try:
        values = json.loads(line)
    except json.JSONDecodeError as error:
        return _Wrong(f"not valid JSON ({error.msg} at column {error.colno})", "Each line must be one JSON object")
    except (RecursionError, ValueError):
        # Python reads neither a thousand brackets nor a number of a million digits.
        return _Wrong("JSON that is nested too deeply, or has too long a number", "Each line must be one flat object")
    if not isinstance(values, dict):
        return _Wrong(f"holds {shown(values)}, not a JSON object", 'Each line must be like {"text": "..."}')
    if field not in values:
        names = ", ".join(map(shown, list(values)[:_FIELDS_NAMED])) or "none"
        return _Wrong(f"there is no field {field!r}, its fields are: {names}", "Name the right one with --field")
    return _checked(values[field], field)


def _checked(value: Any, field: str) -> str | list[str] | _Wrong:
    try:
        row = (value or "") if isinstance(value, str | None) else list(checked_sentence(value, f"field {field!r}"))
    except ConfigError as error:
        return _Wrong(str(error).removesuffix("."), "Fix the line")
    for token in [row] if isinstance(row, str) else row:
        if has_surrogate(token):
            return _Wrong(f"{shown(token)} escapes one half of a surrogate pair, which is no character", "Fix the line")
    return row


Row = str | list[str]


def rows_of(
    lines: Iterable[str],
    form: Form,
    name: str,
    on_bad_line: BadLine | None,
    first: int = 1,
    on_new_document: Callable[[], None] | None = None,
    header: str | None = None,
) -> Iterable[Row]:
    """The rows of `lines` in a form: texts, or lists of tokens.

    `name`: of the file, for messages; `first`: the number of the first line; `on_new_document`: for "conllu" and
    "conll"; `header`: the first line of a table or treebank whose `lines` begin later.
    """
    if form.format == "jsonl":
        return jsonl_rows(lines, name, form.field, on_bad_line, first)
    if form.format == "conllu":
        found = treebank_sentences(lines, name, on_bad_line, first, on_new_document, header)
        return (sentence.tokens for sentence in found)
    if form.format == "conll":
        return conll_sentences(lines, name, form.field, on_bad_line, first, on_new_document)
    if form.format == "csv":
        return table_rows(lines, name, form.field, on_bad_line, first, header, separator=form.separator)
    if form.format == "tsv":
        return table_rows(lines, name, form.field, on_bad_line, first, header, separator=None)
    if form.format == "fasta":
        return fasta_records(lines, name, on_bad_line, first)
    return lines


def bad_line_of(format: Format) -> str | None:
    """What `rows_of` gets instead of a line that couldn't be decoded, as `decoded` takes it."""
    if format == "csv":  # the line may begin or end a cell of several
        return None
    return UNDECODABLE if format in ("conllu", "conll", "fasta") else ""


def numbered_rows(
    lines: Iterable[str], form: Form, name: str, on_bad_line: BadLine | None
) -> Iterator[tuple[int, Row]]:
    """The rows of a whole file, each with the number of the line that it begins at, which for a blank row is that line.

    Parameters are those of `rows_of`. The line that names the columns is part of no row.
    """
    read, begins = 0, None

    def counted() -> Iterator[str]:
        nonlocal read, begins
        for line in lines:
            read += 1
            if begins is None and line.strip():
                begins = read
            yield line

    taken, header = counted(), None
    if form.has_header:
        header = header_of(taken, form.separator if form.format == "csv" else None)
        begins = None
    for row in rows_of(taken, form, name, on_bad_line, read + 1, header=header):
        begun, begins = begins or read, None
        # A record of FASTA ends with the header of the next one.
        yield row.line if isinstance(row, FastaRecord) else begun, row
