"""Tables: CSV and TSV, one column of which holds the texts.

CSV is that of RFC 4180: cells may be in double quotes and may then hold commas, quotes (doubled) and line ends. In
TSV nothing is quoted: a cell ends at a tab or at the line's end. The first row names the columns, unless the column is
given by its number. In CSV, separators other than commas are detected; Excel's first line "sep=;" names one.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from elmo.errors import TextError
from elmo.text.files.decoding import WRONG, BadLine, report
from elmo.text.files.lines import max_line_bytes

_SEPARATORS = (",", ";", "\t", "|")
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
    separator: str | None,
) -> Iterator[str]:
    """The texts of one column; '' for a blank line. The row of column names gives none.

    `field`: the column's name in the first row, or its number from 1, which means that there are no names. `first`: the
    number of the first line; `header`: the first row, if `lines` begin after it, and "sep=;" before. `separator`: of
    CSV; None: TSV.
    A row without that column, or with more cells than the first row, is a TextError, or, if there is `on_bad_line`, ''.
    A missing name is always an error.
    """
    found = _rows(lines, first, separator)
    width = None
    if field.isdecimal() and int(field):
        column = int(field) - 1
        first_row = _cells([cells for _, cells in _rows((header or "").split("\n"), 1, separator)])
        width = len(first_row) if len(first_row) > column else None
    else:
        _, names = next(found if header is None else _rows(header.split("\n"), 1, separator), (1, []))
        if isinstance(names, str):
            raise TextError(f"{name}:1: the row of column names is not valid CSV ({names}). Fix the line.")
        column, width = _place(names, field, name), len(names)
    for line, cells in found:
        if isinstance(cells, str):
            what = f"not valid CSV ({cells})"
        elif not cells or any(WRONG in cell for cell in cells):  # what is wrong was reported
            yield ""
            continue
        elif len(cells) <= column:
            what = f"there are {len(cells)} columns, so there is no column {column + 1}"
        elif any(cells[(width := width or len(cells)) :]):
            what = f"there are {len(cells)} columns, but the first row has {width}: a cell with a separator in it?"
        else:
            yield cells[column]
            continue
        step = "Fix the row, or use --errors skip to list and skip such rows."
        report(on_bad_line, line, f"{name}:{line}: {what}. {step}")
        yield ""


def header_of(lines: Iterator[str], separator: str | None) -> str:
    """What the first row takes of `lines`, of which a name in quotes may have several, and "sep=;" before it."""
    taken: list[str] = []

    def noted() -> Iterator[str]:
        for line in lines:
            taken.append(line)
            yield line

    next(_rows(noted(), 1, separator), None)
    return "\n".join(taken)


def names_separator(line: str) -> bool:
    """Whether it is the first line of a CSV file that Excel takes its separator from: "sep=;"."""
    return line.startswith("sep=") and len(line) == len("sep=;")


def separator_of(lines: Sequence[str], field: str, name: str) -> str:
    """What separates the cells of a CSV file that begins with these lines; a comma if nothing shows another.

    With a field's name: that which gives a column of the name; with its number: that which gives all rows as many
    cells, and that one among them; TextError if two do.
    """
    if lines and names_separator(lines[0]):
        return lines[0][-1]
    rows = {separator: [cells for _, cells in _rows(lines, 1, separator)] for separator in _SEPARATORS}
    headers = {separator: _cells(cells[:1]) for separator, cells in rows.items()}
    if not field.isdecimal():
        # Without one that gives the column, the widest header is the one to show.
        return max(_SEPARATORS, key=lambda it: (field in headers[it], len(headers[it])))
    # The last row may be cut off.
    widths = {separator: {len(_cells([row])) for row in cells[:-1] or cells} - {0} for separator, cells in rows.items()}
    fitting = [it for it, found in widths.items() if len(found) == 1 and max(found) >= max(2, int(field))]
    if len(fitting) > 1:
        raise TextError(
            f"{name}: either {fitting[0]!r} or {fitting[1]!r} may separate the cells. Name it in a first line: "
            f"sep={fitting[0]}"
        )
    return fitting[0] if fitting else _SEPARATORS[0]


def _cells(rows: Sequence[list[str] | str]) -> list[str]:
    """Those of the first row; none of what isn't one."""
    return rows[0] if rows and isinstance(rows[0], list) else []


def _rows(lines: Iterable[str], first: int, separator: str | None) -> Iterator[tuple[int, list[str] | str]]:
    """The line that each row begins at, and its cells, of which a blank row has none; or why it is not CSV."""
    if separator is None:
        for number, line in enumerate(lines, start=first):
            yield number, line.split("\t") if line.strip() else []
        return
    lines = iter(lines)
    if first == 1:
        start = list(islice(lines, 1))
        first, start = (2, []) if start and names_separator(start[0]) else (1, start)
        lines = chain(start, lines)
    # For all readers of the process: Python's own limit is 131,072 characters. C's long has 32 bits on Windows.
    csv.field_size_limit(max(csv.field_size_limit(), min(max_line_bytes(), (1 << 31) - 1)))
    reader = csv.reader((line + "\n" for line in lines), strict=True, delimiter=separator)
    while True:
        begins = first + reader.line_num
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield begins, str(error)
            continue
        yield begins, cells if any(cell.strip() for cell in cells) else []


def _place(names: Sequence[str], field: str, name: str) -> int:
    if field in names:
        return list(names).index(field)
    shown = ", ".join(repr(it[:_LONGEST_SHOWN]) for it in names[:_NAMES_SHOWN]) or "none"
    raise TextError(
        f"{name}:1: there is no column {field!r}, the columns are: {shown}. Name one with --field, or give its number."
    )
