"""Unlabelled text as most tasks take it: a sentence a line, tokenized or raw."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from elmo.tasks.task import TextReading
from elmo.text.sentences import read_sentences


@dataclass(frozen=True)
class TextLine:
    """A line of text and its tokens."""

    tokens: list[str]
    offsets: tuple[tuple[int, int], ...] = ()
    """Where each token begins and ends in the line, in characters, the end exclusive; () if a tokenizer changed the
    text, or the file has tokens only."""


def text_lines(path: Path | str, reading: TextReading) -> Iterator[TextLine]:
    """The lines of a file, in constant memory; "-" is standard input. JSON Lines and CoNLL-U are read by their ending.

    Raises TextError with file and line for what can't be read.
    """
    found: list[TextLine] = []

    def tokenized(line: str) -> list[str]:
        tokens = reading.tokenize(line)
        found.append(TextLine(tokens, token_offsets(line, tokens)))
        return tokens

    rows = read_sentences(
        path,
        encoding=reading.encoding,
        errors=reading.errors,
        tokenize=tokenized,
        on_bad_line=reading.on_bad_line,
    )
    return (found.pop() if found else TextLine(tokens) for tokens in rows)


def token_offsets(text: str, tokens: list[str]) -> tuple[tuple[int, int], ...]:
    """Beginning and end of each token in `text`; () if they can't be found there one after the other."""
    offsets = []
    end = 0
    for token in tokens:
        start = text.find(token, end)
        if start < 0 or text[end:start].strip():
            return ()
        end = start + len(token)
        offsets.append((start, end))
    return tuple(offsets)
