"""Tables: CSV and TSV, one column of which holds the texts.

CSV is that of RFC 4180: cells may stand in double quotes and may then hold commas, quotes (doubled) and line ends. In
TSV nothing is quoted: a cell ends at a tab or at the line's end. The first row names the columns, unless the column is
given by its number.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence

from elmo.errors import TextError
from elmo.text.files.decoding import BadLine

_NAMES_SHOWN = 12
_LONGEST_SHOWN = 40


def table_rows(
    lines: Iterable[str],
    name: str,
    field: str,
    on_bad_line: BadLine | None,
    first: int = 1,
    header: str | None = None,
    *,
    is_quoted: bool,
) -> Iterator[str]:
    """The texts of one column; '' for a blank line. The row of column names gives none.

    `field`: the column's name in the first row, or its number from 1, which means that there are no names. `first`: the
    number of the first line; `header`: the row of names, if `lines` begin after it. `is_quoted`: CSV, not TSV.
    A row without that column is a TextError, or, if there is `on_bad_line`, ''. A missing name is always an error.
    """
    rows = _Rows(lines, first, is_quoted=is_quoted)
    found = rows.cells()
    if field.isdecimal() and int(field):
        column = int(field) - 1
    else:
        names = next(_Rows([header], 1, is_quoted=is_quoted).cells()) if header is not None else next(found, [])
        if isinstance(names, csv.Error):
            raise TextError(f"{name}:1: the row of column names is not valid CSV ({names}). Fix the line.")
        column = _place(names, field, name)
    for cells in found:
        if not isinstance(cells, csv.Error) and (not cells or len(cells) > column):
            yield cells[column] if cells else ""
            continue
        what = (
            f"not valid CSV ({cells})"
            if isinstance(cells, csv.Error)
            else f"there are {len(cells)} columns, so there is no column {column + 1}"
        )
        message = f"{name}:{rows.line}: {what}. Fix the row, or use --errors skip to list and skip such rows."
        if on_bad_line is None:
            raise TextError(message)
        on_bad_line(rows.line, message)
        yield ""


class _Rows:
    """The cells of each row, and the line that it begins at."""

    def __init__(self, lines: Iterable[str], first: int, *, is_quoted: bool) -> None:
        self._lines = lines
        self._next = first
        self._is_quoted = is_quoted
        self.line = first

    def cells(self) -> Iterator[list[str] | csv.Error]:
        """Each row, a blank one without cells; an error instead of what is not CSV."""
        if not self._is_quoted:
            for number, line in enumerate(self._lines, start=self._next):
                self.line = number
                yield line.split("\t") if line.strip() else []
            return
        reader = csv.reader(self._counted(), strict=True)
        while True:
            self.line = self._next
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield error
                continue
            yield cells if any(cell.strip() for cell in cells) else []

    def _counted(self) -> Iterator[str]:
        for line in self._lines:
            self._next += 1
            yield line + "\n"


def _place(names: Sequence[str], field: str, name: str) -> int:
    if field in names:
        return list(names).index(field)
    shown = ", ".join(repr(it[:_LONGEST_SHOWN]) for it in names[:_NAMES_SHOWN]) or "none"
    raise TextError(
        f"{name}:1: there is no column {field!r}, the columns are: {shown}. Name the right one with --field, or give "
        "its number (1 for the first) if the file has no row of names."
    )
