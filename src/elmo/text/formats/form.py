"""Form: how a file is read, which its first lines show better than its name.

What can only be one thing is read as that: ten columns of CoNLL-U, columns with tags, an object of JSON per line. All
else is text, unless its name says otherwise. A format that was given by hand is taken as it is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from elmo.setting_checks import require_value
from elmo.text.files.decoding import require_text
from elmo.text.files.lines import byte_lines
from elmo.text.files.text_file import Format, FormatChoice, format_of_name, is_file, is_stream, text_name
from elmo.text.files.unpacking import PARQUET
from elmo.text.formats.columns import column_sentences, require_words
from elmo.text.formats.conllu import column_of_forms
from elmo.text.formats.json_array import is_array
from elmo.text.formats.structure import format_of_lines
from elmo.text.formats.table import separator_of

DEFAULT_FIELD = "text"
_LINES_LOOKED_AT = 300
# Who writes line by line into a pipe should not wait long.
_LINES_OF_STREAMS = 64
_BYTES_LOOKED_AT = 1 << 16
_WORDS_OF_CONLL2012 = "4"


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
        require_words(_rows(lines, name), column_of_forms(lines), name, "--format conll --field")
    return replace(form, separator=separator_of(lines, field, name)) if form.format == "csv" else form


def _checked(choice: FormatChoice, path: Path | str) -> Format | None:
    """The format that was given; None: "auto"."""
    require_value("format", choice, FormatChoice)
    if Path(path).suffix.lower() == PARQUET:
        return "jsonl"  # which is what it is unpacked to
    return None if choice == "auto" else choice


def _seen(lines: Sequence[str], path: Path | str, field: str) -> Format:
    """What the lines can't but be, or the name says."""
    named = format_of_name(path)
    if named not in (None, "conll"):
        return named
    seen = format_of_lines(lines)
    if named is None and seen != "conllu":
        # No sentences are called .json, whatever their first lines look like.
        return seen or ("jsonl" if ".json" in Path(path).suffixes[-2:] else "text")
    # Only columns can be named by their number.
    return "conllu" if seen == "conllu" and field == DEFAULT_FIELD else "conll"


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
