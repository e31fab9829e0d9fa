"""Form: how a file is read, which its first lines show better than its name.

What can only be one thing is read as that: ten columns of CoNLL-U, columns with tags, an object of JSON per line. What
can't be sentences, but isn't sure to be anything else, is an error that names the flag. A format that was given by hand
is taken as it is.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import NoReturn

from elmo.errors import ConfigError, TextError
from elmo.setting_checks import require_value
from elmo.text.files.binary import require_text
from elmo.text.files.lines import byte_lines
from elmo.text.files.text_file import Format, FormatChoice, format_of_name, is_file, is_stream, text_name
from elmo.text.files.unpacking import PARQUET
from elmo.text.formats.annotation import Sign, sign_of_annotation
from elmo.text.formats.columns import column_sentences, require_kept_words, require_words
from elmo.text.formats.conllu import column_of_forms
from elmo.text.formats.json_array import is_array
from elmo.text.formats.signs import is_conllu, sign_of, sign_of_columns, sign_of_structure
from elmo.text.formats.table import separator_of

DEFAULT_FIELD = "text"
_LINES_LOOKED_AT = 300
# Who writes line by line into a pipe should not wait long.
_LINES_OF_STREAMS = 64
_BYTES_LOOKED_AT = 1 << 16
_WORDS_OF_CONLL2012 = "4"
_SEPARATORS = re.compile(r"[\t,;|]")


@dataclass(frozen=True)
class Form:
    """How a file is read."""

    format: Format = "text"
    field: str = DEFAULT_FIELD
    """Of JSON objects the key, of tables and CoNLL columns the column."""
    separator: str = ","
    """Between the cells of CSV."""
    is_array: bool = False
    """Whether JSON objects are the elements of one array: see `json_array`."""

    @property
    def has_header(self) -> bool:
        """Whether the first line names columns, and is no row."""
        return self.format in ("csv", "tsv") and not self.field.isdecimal()


def form_of(
    path: Path | str, choice: FormatChoice = "auto", field: str = DEFAULT_FIELD, encoding: str = "utf-8"
) -> Form:
    """The form of a file; of a stream, whose beginning can't be read twice, and of what isn't there what the name says.

    Raises ConfigError for a `choice` that there isn't, and what `form_of_lines` and reading the file raise.
    """
    if not is_file(path):
        return Form(_checked(choice, path) or format_of_name(path) or "text", field)
    return form_of_lines(first_lines(byte_lines(path), path), path, choice, field, encoding)


def first_lines(lines: Iterator[bytes], path: Path | str) -> list[bytes]:
    """The lines of a file or stream that show its form."""
    found: list[bytes] = []
    size = 0
    for line in islice(lines, _LINES_OF_STREAMS if is_stream(path) else _LINES_LOOKED_AT):
        found.append(line)
        size += len(line)
        if size > _BYTES_LOOKED_AT:
            break
    return found


def form_of_lines(
    start: Sequence[bytes], path: Path | str, choice: FormatChoice, field: str, encoding: str = "utf-8"
) -> Form:
    """The form of a file that begins with these lines, as `first_lines` gives them.

    Raises TextError if they aren't text, or if they are to be read as something that they don't look like, or if the
    column of words has none.
    """
    name = text_name(path)
    given = _checked(choice, path)
    require_text(b"".join(start), name)
    lines = [line.decode(encoding, "replace").rstrip("\r\n").removeprefix("\ufeff") for line in start]
    form = Form(given or _seen(lines, path, field), field)
    if form.format == "jsonl":
        return replace(form, is_array=is_array(lines))
    if form.format == "conll":
        return _with_words(form, lines, name)
    if form.format == "conllu":
        require_kept_words(_rows(lines, name), column_of_forms(lines), name)
    return replace(form, separator=separator_of(lines, field, name)) if form.format == "csv" else form


def require_plain_text(lines: Sequence[str], name: str) -> None:
    """TextError if a text, where no format can be named, is surely something else."""
    filled = [line for line in lines[:_LINES_LOOKED_AT] if line.strip()]
    sign = sign_of(filled) if filled else None
    if sign is not None and (sign.format is not None or sign_of_structure(filled) or sign_of_annotation(filled)):
        raise TextError(
            f"{name}: looks like {sign.what}, but would be read as running text, so that its marks and numbers would "
            "be words. Write its text into a file without them."
        )


def _checked(choice: FormatChoice, path: Path | str) -> Format | None:
    """The format that was given; None: "auto"."""
    require_value("format", choice, FormatChoice)
    if choice not in ("auto", "jsonl") and Path(path).suffix.lower() == PARQUET:
        raise ConfigError(
            f"format is {choice!r}, but {path} is a Parquet file, which is read by its rows. Leave the format out, and "
            "name the column with --field."
        )
    return None if choice == "auto" else choice


def _seen(lines: Sequence[str], path: Path | str, field: str) -> Format:
    """What the lines look like, or the name says where they don't contradict."""
    named, name = format_of_name(path), text_name(path)
    filled = [line for line in lines if line.strip()]
    if not filled:
        return named or "text"
    if named is None:
        sign = sign_of(lines)
        if sign is not None and sign.format is None:
            _refuse(sign, name, "sentences, one per line", "text")
        # No sentences are called .json, whatever their first lines look like.
        unnamed = "jsonl" if ".json" in Path(path).suffixes[-2:] else "text"
        found = unnamed if sign is None else sign.format or "text"
        return "conll" if found == "conllu" and field != DEFAULT_FIELD else found
    if named == "conll":
        if sign := sign_of_structure(filled):
            _refuse(sign, name, "columns of tokens", named)
        # Only columns can be named by their number.
        return "conllu" if field == DEFAULT_FIELD and is_conllu(filled) else named
    is_default = named in ("csv", "tsv") and field == DEFAULT_FIELD
    if is_default and field not in {cell.strip('"') for cell in _SEPARATORS.split(lines[0])}:
        annotation = sign_of_annotation(filled)
        sign = annotation or sign_of_columns(lines)
        if sign is not None and (annotation or sign.format is not None):
            _refuse(sign, name, "a table with a text in each row", named)
    return named


def _refuse(sign: Sign, name: str, instead: str, format: str) -> NoReturn:
    raise TextError(
        f"{name}: looks like {sign.what}. Read as {instead}, its marks and numbers would be words. {sign.step}, or "
        f"use --format {format} to read it that way anyway."
    )


def _with_words(form: Form, lines: Sequence[str], name: str) -> Form:
    """The form with the column of CoNLL-2012 if that is what it is; TextError if the column has no words."""
    if not form.field.isdecimal() and any(line.startswith("#begin document") for line in lines):
        form = replace(form, field=_WORDS_OF_CONLL2012)
    column = int(form.field) - 1 if form.field.isdecimal() and int(form.field) else 0
    require_words(_rows(lines, name), column, name, "--format conll --field")
    return form


def _rows(lines: Sequence[str], name: str) -> list[list[list[str]]]:
    """The sentences' rows; what is wrong with others is for those who read all of the file."""
    return [it.rows for it in column_sentences(lines, name, lambda *_: None) if it.rows]
