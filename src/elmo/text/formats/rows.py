"""Rows: the lines of a file in one of the known formats -> texts, or lists of tokens."""

from collections.abc import Callable, Iterable, Iterator

from elmo.text.files.decoding import BadLine
from elmo.text.files.text_file import Format
from elmo.text.formats.columns import UNDECODABLE
from elmo.text.formats.conll import conll_sentences
from elmo.text.formats.conllu import conllu_sentences
from elmo.text.formats.form import Form
from elmo.text.formats.jsonl import jsonl_rows
from elmo.text.formats.table import names_separator, table_rows

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
    """What a form sees in `lines`: texts, or lists of tokens.

    `name`: of the file, for messages; `first`: the number of the first line; `on_new_document`: for "conllu" and
    "conll"; `header`: the first line of a table or treebank whose `lines` begin later.
    """
    if form.format == "jsonl":
        return jsonl_rows(lines, name, form.field, on_bad_line, first)
    if form.format == "conllu":
        return conllu_sentences(lines, name, on_bad_line, first, on_new_document, header)
    if form.format == "conll":
        return conll_sentences(lines, name, form.field, on_bad_line, first, on_new_document)
    if form.format == "csv":
        return table_rows(lines, name, form.field, on_bad_line, first, header, separator=form.separator)
    if form.format == "tsv":
        return table_rows(lines, name, form.field, on_bad_line, first, header, separator=None)
    return lines


def bad_line_of(format: Format) -> str:
    """What `rows_of` takes for a line that couldn't be decoded."""
    return UNDECODABLE if format in ("conllu", "conll") else ""


class NumberedRows:
    """Rows with the number of the line that each begins at, which for a blank row is that line.

    Use `lines` as the lines that `rows_of` reads, then go through the rows with `of`.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = self._counted(lines)
        """The same lines, counted."""
        self._read = 0
        self._begins: int | None = None

    def header(self) -> str:
        """Takes the line that names the columns, which is part of no row, and what stands before it."""
        line = next(self.lines, "")
        if names_separator(line):
            line += "\n" + next(self.lines, "")
        self._begins = None
        return line

    def of(self, rows: Iterable[Row]) -> Iterator[tuple[int, Row]]:
        """Each row and its line, from 1."""
        for row in rows:
            begins = self._read if self._begins is None else self._begins
            self._begins = None
            yield begins, row

    def _counted(self, lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            self._read += 1
            if self._begins is None and line.strip():
                self._begins = self._read
            yield line
