"""Sentences: a text file -> an iterator of tokenized sentences, in constant memory."""

from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from elmo.setting_checks import require_value
from elmo.text.files.decoding import BadLine, checked_encoding, decoded
from elmo.text.files.lines import byte_lines
from elmo.text.files.text_file import FormatChoice, check_is_text_file, text_name
from elmo.text.formats.form import DEFAULT_FIELD, Form, first_lines, form_of_lines
from elmo.text.formats.json_array import array_as_lines
from elmo.text.formats.rows import Row, bad_line_of, numbered_rows
from elmo.text.reading.as_trained import composed

Tokenize = Callable[[str], list[str]]
OnBadText = Literal["strict", "skip"]


def read_sentences(path: Path | str, *, tokenize: Tokenize = str.split, **options: Any) -> Iterator[list[str]]:
    """The sentences of `path`, in constant memory; a blank line is `[]`.

    `options`: those of `rows_and_form`.
    `path`: plain text, or packed when it ends in .gz, .xz, .bz2 or .zst; "-" is standard input (not packed). A pipe
    is read once, like standard input.
    `format`: "text" has one sentence a line; "jsonl" an object a line, whose `field` is a text (one sentence) or a
    list of tokens, or one array of them; "csv" and "tsv" a row a sentence, in the column `field` (its name, or its
    number from 1 where no row names the columns); "conll" and "conllu" a token a line; "fasta" a protein a record,
    whose letters are the tokens; "auto" goes by what is seen in the first lines, and by the ending (see
    `elmo.text.formats.form`).
    `tokenize`: makes tokens of a text in NFC; lists of tokens are taken as they are.
    `errors`: what to do with a line that can't be decoded or parsed. "strict" raises; "skip" yields `[]`, so that
    numbers stay true, and calls `on_bad_line(line number from 1, message)`.
    `require_content`: whether a file without a single line is an error.
    `on_bytes`: called now and then with the bytes of the file (as it lies on the disk) read since the last call.
    Raises TextError if the file is missing, a folder, a device, damaged, not in `encoding` or `format`, or over a limit
    of `elmo.text.files.lines`; ConfigError for an encoding that doesn't exist or doesn't end lines with the byte 0x0A.
    """
    _, rows = rows_and_form(path, **options)
    return (tokenize(composed(row)[0]) if isinstance(row, str) else row for _, row in rows)


def rows_and_form(
    path: Path | str,
    *,
    encoding: str = "utf-8",
    errors: OnBadText = "strict",
    on_bad_line: BadLine | None = None,
    require_content: bool = False,
    on_bytes: Callable[[int], object] | None = None,
    format: FormatChoice = "auto",
    field: str = DEFAULT_FIELD,
) -> tuple[Form, Iterator[tuple[int, Row]]]:
    """The form that the first lines of `path` have, which are read here; and its texts, or lists of tokens, each with
    the number of the line that it begins at, from 1.

    Parameters and errors are those of `read_sentences`; a blank or bad line is "" or [].
    """
    require_value("errors", errors, OnBadText)
    codec = checked_encoding(encoding)
    check_is_text_file(path)
    bad_line = None if errors == "strict" else on_bad_line or (lambda number, message: None)
    content = byte_lines(path, on_bytes=on_bytes, require_content=require_content)
    start = first_lines(content, path)
    form = form_of_lines(start, path, format, field, codec)
    content = chain(start, content)
    if form.is_array:
        content = array_as_lines(content, text_name(path), codec, form.field)
    lines = decoded(content, text_name(path), codec, bad_line, instead=bad_line_of(form.format))
    return form, numbered_rows(lines, form, text_name(path), bad_line)
