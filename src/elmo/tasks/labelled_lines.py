"""Labelled files as lines: each one is read or reported, since a label that is skipped silently makes a wrong score."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeVar

from elmo.errors import TextError, TextWarning
from elmo.text.files.decoding import BadLine, checked_encoding, decoded
from elmo.text.files.lines import byte_lines
from elmo.text.files.text_file import check_is_text_file, text_name
from elmo.text.formats.columns import UNDECODABLE

E = TypeVar("E")


def labelled_lines(path: Path | str, encoding: str = "utf-8", on_bad: BadLine | None = None) -> Iterator[str]:
    """The lines of a file, plain or packed, without their ends; blank ones are "".

    Raises TextError for a file that is missing or a folder, and with the line for what isn't in `encoding`; with
    `on_bad`, such a line is reported and becomes `UNDECODABLE`.
    """
    codec = checked_encoding(encoding)
    check_is_text_file(path)
    remedy = "encode" if on_bad is None else "encode or skip"
    return decoded(byte_lines(path), text_name(path), codec, on_bad, instead=UNDECODABLE, remedy=remedy)


@contextmanager
def skipping(path: Path | str, errors: Literal["strict", "skip"]) -> Iterator[BadLine | None]:
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


@contextmanager
def reporting(on_bad: BadLine | None, number: int) -> Iterator[None]:
    """A TextError in the block, about the example at line `number`, goes to `on_bad` if there is one."""
    try:
        yield
    except TextError as error:
        if on_bad is None:
            raise
        on_bad(number, str(error))


def of_own_names(
    examples: Iterable[E], require_own: Callable[[E, dict[Any, str]], None], on_bad: BadLine | None
) -> list[E]:
    """The examples of a file, of different names; `require_own`: notes one's name, or raises TextError if it was noted.

    `on_bad`: called with the examples that are left out.
    """
    seen: dict[Any, str] = {}
    found = []
    for number, example in enumerate(examples, start=1):
        with reporting(on_bad, number):
            require_own(example, seen)
            found.append(example)
    return found


def nothing_in(path: Path | str, kind: str) -> TextError:
    """What to raise for a file without a single example; `kind`: what an example is ("sentence")."""
    return TextError(f"{text_name(path)}: there is no {kind} in it. Check the file, and that it isn't a list of files.")
