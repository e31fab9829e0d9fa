"""Punctuation: whether a text is tokenized shows in its commas and full stops.

In tokenized text they stand apart ("in the rain ."), in raw text they touch the word before ("in the rain."). What a
mark is and what part of an abbreviation or number is for the tokenizer "unicode" to say: "Mr.", "U.S." and "3.5" have
none.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from elmo.text.tokenizer import tokenizer

_MARKS = frozenset(".,;:!?…。，、！？；：।؟۔")


@dataclass(frozen=True)
class Punctuation:
    """Marks of a text, counted."""

    touching: int
    """Marks that touch the word before."""
    apart: int
    """Marks with a space before."""
    example: str = ""
    """The first word that a mark touches, with the mark: "rain."."""

    @property
    def is_raw(self) -> bool:
        """Whether more marks touch a word than stand apart: text that isn't tokenized."""
        return self.touching > self.apart


def punctuation_of(texts: Iterable[str]) -> Punctuation:
    """The marks in some lines of text."""
    tokenize = tokenizer("unicode")
    touching = apart = 0
    example = ""
    for text in texts:
        end = 0
        for token in tokenize(text):
            start = text.index(token, end)
            end = start + len(token)
            if token[0] not in _MARKS:
                continue
            if start == 0 or text[start - 1].isspace():
                apart += 1
            elif text[start - 1].isalnum():
                touching += 1
                example = example or text[:end].split()[-1]
    return Punctuation(touching, apart, example)
