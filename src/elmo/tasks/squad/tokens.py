"""Tokens with their offsets: the position of each token in the text, and which tokens an answer covers.

    "the mid-18th century" -> the  mid  -  18th  century      tokens
                              0:3  4:7 7:8 8:12  13:20        offsets into the text
    answer "18th" at 8     -> tokens 3 to 3 -> text[8:12]

No offset is ever computed from joined tokens: an answer is cut from the text of the file itself.
Source of the split at hyphens and of the rule for spans: Clark and Gardner 2018, their SQuAD preprocessing.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

from elmo.text.reading.as_trained import DASHES, QUOTES, composed
from elmo.text.tokenizer import tokenizer

Offset = tuple[int, int]
"""(start, end) of a token in its text, in code points; the end is exclusive."""
TokenSpan = tuple[int, int]
"""(first, last) token, both inclusive."""

# Hyphens, dashes, minus, slash, tilde, currency signs, the degree sign; an underscore only between two characters.
_SEPARATOR = re.compile(r"([-\u2010-\u2015\u2212/~$\u00a2-\u00a5\u20a0-\u20bf\u00b0]+|(?<=.)_+(?=.))")
# Not by the biLM's vocabulary: models of this task were trained so, whatever their biLM.
_AS_TRAINED = str.maketrans(QUOTES | {"`": "'", "´": "'"} | DASHES)


@dataclass(frozen=True)
class TokenizedText:
    """A text and its tokens."""

    text: str
    tokens: tuple[str, ...]
    """As the model reads them."""
    offsets: tuple[Offset, ...]
    """Of each token in `text`; they rise and don't overlap."""

    def cut(self, span: TokenSpan) -> str:
        """The text from the first token's start to the last token's end."""
        return self.text[self.offsets[span[0]][0] : self.offsets[span[1]][1]]

    def covering(self, start: int, end: int) -> TokenSpan | None:
        """All tokens that overlap text[start:end]; None if there is none."""
        first = bisect_right(self.offsets, start, key=itemgetter(1))
        last = bisect_left(self.offsets, end, key=itemgetter(0)) - 1
        return (first, last) if first <= last else None


def tokenized(
    text: str, *, name: str = "unicode", split_hyphens: bool = True, plain_quotes: bool = True
) -> TokenizedText:
    """`text` in tokens.

    `name`: of a tokenizer that changes no character, "unicode" or "whitespace". `split_hyphens`: split tokens at
    hyphens and the like too. `plain_quotes`: give curly quotes and long dashes as the biLM's training text has them.
    The tokens are in NFC; offsets are of the text as it is.
    """
    read, places = composed(text)
    words = tokenizer(name)(read)
    offsets = list(_split(read, _offsets(read, words)) if split_hyphens else _offsets(read, words))
    tokens = [read[start:end] for start, end in offsets]
    if plain_quotes:
        tokens = [token.translate(_AS_TRAINED) for token in tokens]
    if places is not None:
        offsets = [(int(places[start]), int(places[end])) for start, end in offsets]
    return TokenizedText(text, tuple(tokens), tuple(offsets))


def _offsets(text: str, words: Sequence[str]) -> Iterator[Offset]:
    end = 0
    for word in words:
        start = text.index(word, end)
        end = start + len(word)
        yield start, end


def _split(text: str, offsets: Iterator[Offset]) -> Iterator[Offset]:
    """A run of separators becomes a token of its own; one that is a whole token stays."""
    for start, end in offsets:
        for part in _SEPARATOR.split(text[start:end]):
            if part:
                yield start, start + len(part)
                start += len(part)
