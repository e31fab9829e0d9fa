"""Labelled files as lines: each one is read or reported, since a label that is skipped silently makes a wrong score."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from elmo.errors import TextError, TextWarning
from elmo.text.files.text_file import text_name
from elmo.text.formats.columns import UNDECODABLE
from elmo.text.sentences import read_rows

OnBadExample = Callable[[int, str], None]
"""Called with the line number, from 1, and the error message."""


def labelled_lines(path: Path | str, encoding: str = "utf-8", on_bad: OnBadExample | None = None) -> Iterator[str]:
    """The lines of a file, plain or packed, without their ends; blank ones are "".

    Raises TextError for a file that is missing or a folder, and with the line for what isn't in `encoding`; with
    `on_bad`, such a line is reported and becomes `UNDECODABLE`.
    """
    bad: set[int] = set()

    def note(number: int, message: str) -> None:
        bad.add(number)
        if on_bad is not None:
            on_bad(number, message)

    rows = read_rows(
        path,
        encoding=encoding,
        errors="strict" if on_bad is None else "skip",
        on_bad_line=note,
        format="text",
        remedy="encode" if on_bad is None else "encode or skip",
    )
    # Lines of text are returned whole; readers of columns split them.
    return (UNDECODABLE if number in bad else str(row) for number, row in rows)


@contextmanager
def skipping(path: Path | str, errors: Literal["strict", "skip"]) -> Iterator[OnBadExample | None]:
    """Yields the callback for bad examples of a file, which a TextWarning counts; None if they are errors."""
    if errors == "strict":
        yield None
        return
    messages: list[str] = []
    try:
        yield lambda _, message: messages.append(message)
    finally:
        if messages:
            warnings.warn(
                f"{text_name(path)}: left out what can't be read, {len(messages):,} in all (--errors skip). The first: "
                f"{messages[0]}",
                TextWarning,
                stacklevel=1,
            )


def skip_or_raise(error: TextError, number: int, on_bad: OnBadExample | None) -> None:
    """Reports an example that can't be read to `on_bad`, or raises the error without it."""
    if on_bad is None:
        raise error
    on_bad(number, str(error))


def nothing_in(path: Path | str, kind: str) -> TextError:
    """What to raise for a file without a single example; `kind`: what an example is ("sentence")."""
    return TextError(f"{text_name(path)}: there is no {kind} in it. Check the file, and that it isn't a list of files.")
