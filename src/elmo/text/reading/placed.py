"""Placed sentences: sentences with their places in the text: file, line, number in the line, spans of tokens."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elmo.errors import ElmoError, TextError
from elmo.text.files.decoding import BadLine
from elmo.text.files.text_file import text_name
from elmo.text.formats.fasta import FastaRecord
from elmo.text.formats.rows import Row
from elmo.text.reading.as_trained import Marks, as_trained, composed
from elmo.text.reading.settings import Reading, SentenceEnds
from elmo.text.reading.spans import token_spans
from elmo.text.sentences import Tokenize, rows_and_form
from elmo.text.tokenizer import sentence_spans, tokenizer_name

_TEXT_SHOWN = 80


@dataclass(frozen=True, slots=True)
class PlacedSentence:
    """A sentence and its place in the text."""

    tokens: list[str]
    """As a model reads them: see `as_trained`."""
    text: str
    """The sentence as the text has it; of a list of tokens: these, with spaces between them."""
    line: int
    """The line that it, or the row or paragraph it is part of, begins at, from 1."""
    sentence: int = 1
    """Its number in that line, row or paragraph, from 1."""
    start: int = 0
    """Where it begins there, in characters from 0."""
    file: int = 0
    """Number of its file among those that are read, from 0."""
    has_text: bool = True
    """Whether it was a text; False: a list of tokens, whose spans are those in `text`."""
    is_skipped: bool = False
    """Whether it has no tokens because it stands for a bad line, and not for a blank one."""
    own_spans: NDArray[np.int64] | None = None
    """The spans, where tokens are written otherwise in the text."""
    id: str | None = None
    """Of the record, in FASTA."""

    @property
    def spans(self) -> NDArray[np.int64]:
        """(tokens, 2) where each token begins and ends, in characters of its line, cell or paragraph, from 0."""
        return token_spans(self.text, self.tokens, self.start) if self.own_spans is None else self.own_spans


@dataclass(frozen=True, slots=True)
class PlacedRow:
    """A row of a file, before it is made into sentences."""

    content: Row
    line: int
    file: int
    path: Path | str
    is_bad: bool
    """Whether it stands for a line that is skipped."""
    is_text: bool
    """Whether it is a line of plain text, not a row of another format."""


def placed_sentences(
    paths: Sequence[Path | str],
    reading: Reading,
    *,
    tokenize: Tokenize | None = None,
    marks: Marks | None = None,
    on_bad_line: BadLine | None = None,
    require_content: bool = False,
    on_bytes: Callable[[int], object] | None = None,
) -> Iterator[PlacedSentence]:
    """The sentences of some files, in constant memory.

    A blank line, and one that is skipped, is a sentence without tokens, so that rows and lines can be counted; only
    sentences that go on across lines have none between them.
    `tokenize`: instead of the function of `reading.tokenizer`. `marks`: those that the model reads as plain ones, see
    `as_trained.plain_marks`. The others, and the errors, are those of `read_sentences`; a tokenizer that fails is a
    TextError that names file and line.
    """
    rows = placed_rows(paths, reading, on_bad_line=on_bad_line, require_content=require_content, on_bytes=on_bytes)
    return sentences_of(rows, reading, tokenize, marks)


def placed_rows(
    paths: Sequence[Path | str],
    reading: Reading,
    *,
    on_bad_line: BadLine | None = None,
    require_content: bool = False,
    on_bytes: Callable[[int], object] | None = None,
) -> Iterator[PlacedRow]:
    """The rows of some files: what `sentences_of` makes into sentences. Parameters as in `placed_sentences`."""
    is_bad = False

    def note(number: int, message: str) -> None:
        nonlocal is_bad
        is_bad = True
        if on_bad_line is not None:
            on_bad_line(number, message)

    for number, path in enumerate(paths):
        form, rows = rows_and_form(
            path,
            encoding=reading.encoding,
            errors=reading.errors,
            on_bad_line=note,
            require_content=require_content,
            on_bytes=on_bytes,
            format=reading.format,
            field=reading.field,
        )
        for line, row in rows:
            yield PlacedRow(row, line, number, path, is_bad, form.format == "text")
            is_bad = False


def sentences_of(
    rows: Iterable[PlacedRow], reading: Reading, tokenize: Tokenize | None = None, marks: Marks | None = None
) -> Iterator[PlacedSentence]:
    """The sentences of rows. `tokenize`: instead of the function of `reading.tokenizer`; `marks`: as above."""
    apply, reading = _applied(reading, tokenize)
    for row in _paragraphs(rows, reading):
        if isinstance(row.content, list):
            yield _given(row.content, row, marks or {})
            continue
        for place, sentence in enumerate(_split(row.content, apply, reading, row.path, row.line, marks or {}), start=1):
            is_skipped = row.is_bad and not sentence.tokens
            yield replace(sentence, line=row.line, sentence=place, file=row.file, is_skipped=is_skipped)


def _applied(reading: Reading, tokenize: Tokenize | None) -> tuple[Tokenize, Reading]:
    """The function, and the reading with its name, which messages tell."""
    if tokenize is None:
        return reading.tokenize, reading
    return tokenize, replace(reading, tokenizer=tokenizer_name(tokenize))


def _given(tokens: list[str], row: PlacedRow, marks: Marks) -> PlacedSentence:
    """A list of tokens; letters of FASTA are counted as residues are, those alone that are read."""
    if isinstance(tokens, FastaRecord):
        spans = np.arange(len(tokens))[:, None] + [0, 1]
        return PlacedSentence(list(tokens), "".join(tokens), row.line, file=row.file, own_spans=spans, id=tokens.id)
    text, read = " ".join(tokens), as_trained(tokens, marks)
    return PlacedSentence(
        read,
        text,
        row.line,
        file=row.file,
        has_text=False,
        is_skipped=row.is_bad and not tokens,
        own_spans=None if read is tokens else token_spans(text, tokens),
    )


def _split(
    text: str, tokenize: Tokenize, reading: Reading, path: Path | str, line: int, marks: Marks
) -> Iterator[PlacedSentence]:
    """The sentences of a text, with their lines; spans count from its beginning."""
    whole, places = composed(text)
    for start, stop in _spans(whole, reading.sentences):
        part = whole[start:stop]
        at = line + text.count("\n", 0, start if places is None else places[start].item())
        # A line end inside a sentence is a space to the tokenizer, at the same place.
        tokens = tokens_of(tokenize, part.replace("\n", " "), f"{text_name(path)}:{at}", reading.tokenizer)
        read = as_trained(tokens, marks)
        if read is tokens and places is None:
            yield PlacedSentence(tokens, part, at, start=start)
            continue
        spans = token_spans(part, tokens, start)
        if places is not None:
            spans = np.where(spans < 0, spans, places[spans])
            start, stop = places[start].item(), places[stop].item()
        yield PlacedSentence(read, text[start:stop], at, start=start, own_spans=spans)


def _paragraphs(rows: Iterable[PlacedRow], reading: Reading) -> Iterator[PlacedRow]:
    """The rows; in files whose sentences go on across lines, the lines up to a blank one as one row.

    A bad line ends no paragraph.
    """
    held: list[PlacedRow] = []
    for row in rows:
        if held and row.file != held[0].file:
            yield _joined(held)
            held = []
        if reading.sentences != "across-lines" or not row.is_text:
            yield row
        elif str(row.content).strip():
            held.append(row)
        elif held and not row.is_bad:
            yield _joined(held)
            held = []
    if held:
        yield _joined(held)


def _joined(rows: Sequence[PlacedRow]) -> PlacedRow:
    return replace(rows[0], content="\n".join(str(row.content) for row in rows))


def placed_in(
    text: str, reading: Reading, tokenize: Tokenize | None = None, marks: Marks | None = None
) -> Iterator[PlacedSentence]:
    """The sentences of a text in memory, by its lines; blank lines have none. Spans count from the text's beginning."""
    apply, reading = _applied(reading, tokenize)
    begin = 0
    for line, row in enumerate([text] if reading.sentences == "across-lines" else text.split("\n"), start=1):
        found = (it for it in _split(row, apply, reading, "text", line, marks or {}) if it.tokens)
        for place, sentence in enumerate(found, start=1):
            own_spans = sentence.own_spans
            if own_spans is not None:
                own_spans = np.where(own_spans < 0, own_spans, own_spans + begin)
            yield replace(sentence, sentence=place, start=begin + sentence.start, own_spans=own_spans)
        begin += len(row) + 1


def placed_as_one(text: str, tokenize: Tokenize, marks: Marks, name: str = "text") -> PlacedSentence:
    """A text in memory as one sentence, however many lines it has. `name`: of the tokenizer, for messages."""
    (found,) = _split(text, tokenize, Reading(tokenizer=name), "text", 1, marks)
    return found


def _spans(text: str, ends: SentenceEnds) -> list[tuple[int, int]]:
    """The sentences of a row; one of no length if it is blank."""
    if ends == "lines":
        return [(0, len(text))]
    if ends == "across-lines":
        return sentence_spans(text) or [(0, 0)]
    found, begin = [], 0
    for line in text.split("\n"):
        found += [(begin + start, begin + stop) for start, stop in sentence_spans(line)]
        begin += len(line) + 1
    return found or [(0, 0)]


def tokens_of(tokenize: Tokenize, text: str, place: str, name: str) -> list[str]:
    """The tokens of a text; whatever goes wrong in a tokenizer of the user's own is a TextError.

    `place`: of the text, and `name`: of the tokenizer, for messages.
    """
    try:
        tokens = tokenize(text)
        # A string returned by mistake would be taken for the list of its letters.
        if not isinstance(tokens, list | tuple) or not all(isinstance(token, str) for token in tokens):
            raise TypeError(f"it gave {tokens!r:.{_TEXT_SHOWN}}, not a list of strings")
    except ElmoError:
        raise
    except Exception as error:
        raise TextError(
            f"{place}: the tokenizer {name} failed at {text[:_TEXT_SHOWN]!r}: {error!r}. Fix it, or "
            "use another with --tokenizer."
        ) from error
    return list(tokens)
