"""Display width: how many columns of a terminal a text takes, so that tables of any script line up."""

import unicodedata


def width(text: str) -> int:
    """Columns: 2 for wide characters such as Hangul and Chinese, 0 for marks on the character before, else 1."""
    return sum(map(_of, text))


def padded(text: str, columns: int) -> str:
    """`text` and spaces up to so many columns."""
    return text + " " * (columns - width(text))


def shortened(text: str, columns: int) -> str:
    """`text`, cut so that it has no more columns, with "..." at its end if it was cut."""
    if width(text) <= columns:
        return text
    end, taken = 0, 3
    while taken + _of(text[end]) <= columns:
        taken += _of(text[end])
        end += 1
    return text[:end] + "..."


def _of(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf", "Cc"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
