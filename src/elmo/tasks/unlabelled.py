"""Unlabelled text as most tasks take it: sentences, tokenized or raw, with the positions of their tokens."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from elmo.tasks.task import TextReading
from elmo.text.files.text_file import is_stream, text_name
from elmo.text.first_look.sample import opened
from elmo.text.formats.form import DEFAULT_FIELD, form_of
from elmo.text.reading.placed import PlacedSentence

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
