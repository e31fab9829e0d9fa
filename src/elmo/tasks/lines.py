"""Lines of task data: labelled ones, records of fields, and unlabelled text with the positions of its tokens.

A labelled line is read or reported, since a label that is skipped silently makes a wrong score.
"""

import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Literal, TypeVar

from elmo.errors import TextError, TextWarning
from elmo.tasks.json_tree import Node, parse_tree
from elmo.tasks.task import TextReading
from elmo.text.files.decoding import BadLine, checked_encoding, decoded
from elmo.text.files.lines import byte_lines
from elmo.text.files.text_file import check_is_text_file, is_stream, text_name
from elmo.text.first_look.sample import opened
from elmo.text.formats.columns import UNDECODABLE
from elmo.text.formats.form import DEFAULT_FIELD, form_of
from elmo.text.reading.placed import PlacedSentence

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
    examples: Iterable[E], name_of: Callable[[E], tuple[Hashable, str]], on_bad: BadLine | None = None
) -> list[E]:
    """The examples of a file, each of a name of its own; others are TextErrors, or reported to `on_bad` and left out.

    `name_of`: an example's name and where it is from.
    """
    seen: dict[Hashable, str] = {}
    found = []
    for number, example in enumerate(examples, start=1):
        with reporting(on_bad, number):
            require_own_name(*name_of(example), seen)
            found.append(example)
    return found


def require_own_name(name: Hashable, source: str, seen: dict[Hashable, str]) -> None:
    """Notes in `seen` where an example of that name is from. TextError if the name is there already."""
    if name in seen:
        raise TextError(
            f"{source}: {name!r} is the name of another example too (in {seen[name]}), but predictions are matched by "
            "it. Give each one a name of its own."
        )
    seen[name] = source


def require_same_sentences(
    gold: Iterable[tuple[str, Sequence[str]]], found: Iterable[tuple[str, Sequence[str]]]
) -> None:
    """TextError at the first sentence that hasn't the same tokens in both. Each: its file and line, and its tokens."""
    for (place, right), (where, tokens) in zip_longest(gold, found, fillvalue=("", ())):
        if list(right) != list(tokens):
            pairs = enumerate(zip(right, tokens, strict=False))
            at = next((at for at, (one, other) in pairs if one != other), min(len(right), len(tokens)))
            wanted, there = (" ".join(words[at : at + 5]) or "nothing" for words in (right, tokens))
            raise TextError(
                f"{where or place}: token {at + 1} is {there!r} in the predictions, {wanted!r} in the gold file "
                f"({place or 'which has ended'}). Score predictions for exactly the gold file's sentences."
            )


def nothing_in(path: Path | str, kind: str) -> TextError:
    """What to raise for a file without a single example; `kind`: what an example is ("sentence")."""
    return TextError(f"{text_name(path)}: there is no {kind} in it. Check the file, and that it isn't a list of files.")


def records(
    lines: Iterable[str], name: str, columns: Sequence[str], on_bad: BadLine | None, *, header: bool = False
) -> Iterator[tuple[int, Node]]:
    """The records of the file `name`, each with the number of its line: JSON objects, one per line, if the first line
    begins one; else cells between tabs, as many in each line as in the first.

    `columns`: the fields that the cells are, "" for one that isn't needed, none at all for a file of JSON; a first line
    that names them all says itself which cells they are, and `header` says that it is no record in any case.
    """
    is_json: bool | None = None
    width = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line == UNDECODABLE:
            continue
        cells = line.split("\t")
        if is_json is None:
            is_json, width = not columns or line.lstrip().startswith("{"), max(len(cells), len(columns))
            names_columns = not is_json and set(filter(None, columns)) <= set(cells)
            columns = cells if names_columns else columns
            if names_columns or (header and not is_json):
                continue
        with reporting(on_bad, number):
            if is_json:
                yield number, parse_tree([line], f"{name}:{number}")
                continue
            if len(cells) != width:
                raise TextError(
                    f"{name}:{number}: has {len(cells)} tab-separated columns, but {width} are expected: "
                    f"{' TAB '.join(column or '...' for column in columns)}. Fix the line, or write a JSON "
                    "object with these fields on each line."
                )
            yield number, Node(dict(zip(columns, cells, strict=False)), f"{name}:{number}", "")


# Of CoNLL-U, counted from 1.
_FORMS = 2


@dataclass(frozen=True)
class TextLine:
    """A sentence of a text and its tokens."""

    tokens: list[str]
    offsets: tuple[tuple[int, int], ...] = ()
    """The beginning and end of each token in its line, in characters, the end exclusive; () if a tokenizer changed the
    text, or the file has tokens only."""
    has_text: bool = True
    """Whether it was a text; False: a list of tokens, as columns are."""
    source: str = field(default="", compare=False)
    """The file's name."""
    line: int = field(default=0, compare=False)
    """In it, from 1."""


def in_token_column(path: Path | str, reading: TextReading, column: int) -> TextReading:
    """`reading` with the column in which the training data have their tokens, for columns of which it names none.

    Of a stream, only its first lines tell whether it has columns: unless another format is given, it is taken to.
    """
    if reading.field != DEFAULT_FIELD:
        return reading
    if is_stream(path):
        return replace(reading, field=str(column)) if reading.format in ("auto", "conll") else reading
    format = form_of(path, reading.format, reading.field, reading.encoding).format
    has_columns = format == "conll" or (format == "conllu" and column != _FORMS)
    return replace(reading, field=str(column), format="conll") if has_columns else reading


def text_lines(path: Path | str, reading: TextReading) -> Iterator[TextLine]:
    """The sentences and blank lines of a file, in constant memory; "-" is standard input.

    Raises TextError with file and line for what can't be read.
    """
    look, places = opened([path], reading, on_bad_line=reading.on_bad_line)
    if reading.on_look is not None:
        reading.on_look(look)
    name = text_name(path)
    return (TextLine(it.tokens, _offsets(it), it.has_text, name, it.line) for it in places)


def _offsets(place: PlacedSentence) -> tuple[tuple[int, int], ...]:
    if not place.has_text:
        return ()
    spans = place.spans.tolist()
    return () if any(start < 0 for start, _ in spans) else tuple((start, end) for start, end in spans)
