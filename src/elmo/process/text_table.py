"""Tables for a terminal, aligned by display width, so that text of any script lines up."""

import unicodedata
from collections.abc import Iterable, Sequence

# Characters to a column, at most, in any script: a letter with its marks.
_MARKED = 4


def text_table(rows: Iterable[Sequence[str]], *, left: int = 1) -> list[str]:
    """Its lines: the first `left` columns are flush left, all others flush right, two spaces apart."""
    rows = list(rows)
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        spaces = [" " * (columns - width(cell)) for cell, columns in zip(row, widths, strict=True)]
        cells = [
            cell + space if at < left else space + cell
            for at, (cell, space) in enumerate(zip(row, spaces, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def width(text: str) -> int:
    """Columns of a terminal: 2 for wide characters such as Hangul and Chinese, 0 for marks on the character before,
    else 1."""
    return sum(map(_of, text))


def shortened(text: str, columns: int) -> str:
    """`text`, cut so that it has no more columns, with "..." at its end if it was cut.

    A million marks on one letter have one column, so characters are counted too.
    """
    most = _MARKED * columns
    if len(text) <= most and width(text) <= columns:
        return text
    end, taken = 0, 3
    while end < most and taken + _of(text[end]) <= columns:
        taken += _of(text[end])
        end += 1
    return text[:end] + "..."


def _of(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf", "Cc"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
