"""Placed sentences: sentences with what joins them to the text: file, line, number in the line, spans of tokens."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elmo.errors import ElmoError, TextError
from elmo.text.formats.rows import Row
from elmo.text.reading.settings import OnSkipped, Reading, SentenceEnds
from elmo.text.reading.spans import token_spans
from elmo.text.sentences import Tokenize, read_rows
from elmo.text.text_file import text_name
from elmo.text.tokenizer import sentence_spans

_TEXT_SHOWN = 80


@dataclass(frozen=True, slots=True)
class PlacedSentence:
    """A sentence and its place in the text."""

    tokens: list[str]
    text: str
    """The sentence as it stands in the text; of a list of tokens: these, with spaces between them."""
    line: int
    """The line that it, or the row or paragraph it is part of, begins at, from 1."""
    sentence: int = 1
    """Its number in that line, row or paragraph, from 1."""
    start: int = 0
    """Where it begins there, in characters from 0."""
    file: int = 0
    """Number of its file among those that are read, from 0."""

    @property
    def spans(self) -> NDArray[np.int64]:
        """(tokens, 2) where each token begins and ends, in characters of its line, cell or paragraph, from 0."""
        return token_spans(self.text, self.tokens, self.start)


def placed_sentences(
    paths: Sequence[Path | str],
    reading: Reading,
    *,
    tokenize: Tokenize | None = None,
    on_bad_line: OnSkipped | None = None,
    require_content: bool = False,
    on_progress: Callable[[int], None] | None = None,
) -> Iterator[PlacedSentence]:
    """The sentences of some files, in constant memory.

    A blank line, and one that is skipped, is a sentence without tokens, so that rows and lines can be counted; only
    sentences that go on across lines have none between them.
    `tokenize`: instead of the function of `reading.tokenizer`. The others, and the errors, are those of
    `read_sentences`; a tokenizer that fails is a TextError that names file and line.
    """
    apply = reading.tokenize if tokenize is None else tokenize
    for number, path in enumerate(paths):
        rows = _Rows(path, reading, on_bad_line, require_content, on_progress)
        for line, row in rows.paragraphs() if reading.crosses_lines(path) else rows:
            if isinstance(row, list):
                yield PlacedSentence(row, " ".join(row), line, file=number)
                continue
            for place, (start, stop) in enumerate(_spans(row, reading.sentences), start=1):
                part = row[start:stop]
                # A line end inside a sentence is a space to the tokenizer, at the same place.
                tokens = _tokenized(apply, part.replace("\n", " "), path, line, reading.tokenizer)
                yield PlacedSentence(tokens, part, line, place, start, number)


def placed_in(text: str, reading: Reading, tokenize: Tokenize | None = None) -> Iterator[PlacedSentence]:
    """The sentences of a text in memory, by its lines; blank lines have none. Spans count from the text's beginning."""
    apply = reading.tokenize if tokenize is None else tokenize
    by_paragraph = reading.sentences == "across-lines"
    begin = 0
    for line, row in enumerate([text] if by_paragraph else text.split("\n"), start=1):
        for place, (start, stop) in enumerate(_spans(row, reading.sentences), start=1):
            part = row[start:stop]
            tokens = _tokenized(apply, part.replace("\n", " "), "text", line, reading.tokenizer)
            if tokens:
                at = line + row.count("\n", 0, start)
                yield PlacedSentence(tokens, part, at, place, begin + start)
        begin += len(row) + 1


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


class _Rows:
    """The rows of a file with their lines; remembers whether the last one was bad."""

    def __init__(
        self,
        path: Path | str,
        reading: Reading,
        on_bad_line: OnSkipped | None,
        require_content: bool,
        on_progress: Callable[[int], None] | None,
    ) -> None:
        self._is_bad = False
        self._on_bad_line = on_bad_line
        self._rows = read_rows(
            path,
            encoding=reading.encoding,
            errors=reading.errors,
            on_bad_line=self._note,
            require_content=require_content,
            on_progress=on_progress,
            format=reading.format,
            field=reading.field,
        )

    def __iter__(self) -> Iterator[tuple[int, Row]]:
        return self._rows

    def paragraphs(self) -> Iterator[tuple[int, str]]:
        """Lines of plain text up to a blank one, joined by line ends. A bad line ends no paragraph."""
        lines: list[str] = []
        begins = 1
        for number, row in self._rows:
            if isinstance(row, str) and row.strip():
                begins = begins if lines else number
                lines.append(row)
            elif lines and not self._is_bad:
                yield begins, "\n".join(lines)
                lines = []
            self._is_bad = False
        if lines:
            yield begins, "\n".join(lines)

    def _note(self, number: int, message: str) -> None:
        self._is_bad = True
        if self._on_bad_line is not None:
            self._on_bad_line(number, message)


def _tokenized(tokenize: Tokenize, text: str, path: Path | str, line: int, name: str) -> list[str]:
    """The tokens of a text; whatever goes wrong in a tokenizer of the user's own is a TextError."""
    try:
        tokens = tokenize(text)
        # A string returned by mistake would be taken for the list of its letters.
        if not isinstance(tokens, list | tuple) or not all(isinstance(token, str) for token in tokens):
            raise TypeError(f"it gave {tokens!r:.{_TEXT_SHOWN}}, not a list of strings")
    except ElmoError:
        raise
    except Exception as error:
        raise TextError(
            f"{text_name(path)}:{line}: the tokenizer {name} failed at {text[:_TEXT_SHOWN]!r}: {error!r}. Fix it, or "
            "use another with --tokenizer."
        ) from error
    return list(tokens)
