"""Labelled files as lines: each one is read or reported, since a label that is skipped silently makes a wrong score."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeVar

from elmo.errors import TextError, TextWarning
from elmo.text.files.decoding import BadLine, checked_encoding, decoded
from elmo.text.files.lines import byte_lines
from elmo.text.files.text_file import check_is_text_file, text_name
from elmo.text.formats.columns import UNDECODABLE
from elmo.text.formats.json_tree import Node, parse_tree

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


def records(
    lines: Iterable[str], name: str, columns: Sequence[str], on_bad: BadLine | None, *, header: bool = False
) -> Iterator[tuple[int, Node]]:
    """The records of the file `name`, each with the number of its line: JSON objects, one per line, if the first line
    begins one; else cells between tabs, as many in each line as in the first.

    `columns`: the fields that the cells are, "" for one that isn't needed; a first line that names them all says itself
    which cells they are, and `header` says that it is no record in any case.
    """
    is_json: bool | None = None
    width = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line == UNDECODABLE:
            continue
        cells = line.split("\t")
        if is_json is None:
            is_json, width = line.lstrip().startswith("{"), len(cells)
            names_columns = set(filter(None, columns)) <= set(cells)
            columns = cells if names_columns and not is_json else columns
            if names_columns or header:
                continue
        with reporting(on_bad, number):
            if is_json:
                yield number, parse_tree([line], f"{name}:{number}")
                continue
            if len(cells) != width or width < len(columns):
                raise TextError(
                    f"{name}:{number}: has {len(cells)} tab-separated columns, but the first line has {width} and "
                    f"{' TAB '.join(column or '...' for column in columns)} is expected. Fix the line."
                )
            yield number, Node(dict(zip(columns, cells, strict=False)), f"{name}:{number}", "")
