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
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Literal

from elmo.setting_checks import Chance, NotNegativeInt
from elmo.tasks.settings import FileSettings, FitSettings, Size, SizeOrNone, TaskSettings, TokenSettings
from elmo.text.reading.as_trained import DASHES, QUOTES, composed
from elmo.text.tokenizer import tokenizer


@dataclass(frozen=True)
class ReaderSettings(FileSettings):
    """Data and network of the reader."""

    unanswerable: Literal["stop", "skip"] = "stop"
    """What to do with a question that has no answer, as in SQuAD 2.0: stop with an error, or leave it out and say how
    many there are."""
    question_tokenizer: Literal["unicode", "whitespace"] = "unicode"
    """How questions and passages are split into tokens; offsets into the passage are kept in either case."""
    split_hyphens: bool = True
    """Whether tokens are also split at hyphens, slashes, dashes and currency signs, so that "18th" in "mid-18th" can be
    an answer."""
    plain_quotes: bool = True
    """Whether the model reads curly quotes as straight ones and long dashes as "--", as in the biLM's training text.
    Answers are always exact pieces of the passage in the file."""
    target: Literal["random", "first", "majority"] = "random"
    """Which gold answer is the target if a question has several. random: one drawn at random in each step; first: the
    first one; majority: the one that most annotators gave."""
    max_answer_tokens: Size = 17
    """Maximum length of a predicted answer in tokens."""
    hidden_size: Size = 90
    """Hidden units of each GRU in each direction."""
    dropout: Chance = 0.2
    """Dropout on the input and output of the GRUs, with one mask for all tokens of a passage, and on character vectors,
    with independent masks."""
    character_filters: SizeOrNone = 100
    """Filters of the char CNN; 0: no char CNN."""
    character_width: Size = 5
    """Width of a filter in characters."""
    character_vector: Size = 20
    """Dimensions of a character's vector."""
    min_character_count: NotNegativeInt = 5
    """How often a character must occur in the training data to get its own vector."""
    max_characters: Size = 14
    """Maximum number of characters of a token that are read."""


@dataclass(frozen=True)
class SquadSettings(TaskSettings):
    """All settings of `elmo task train squad`."""

    tokens: TokenSettings = field(default_factory=lambda: TokenSettings(placement="both", mix_penalty=0.0))
    fit: FitSettings = field(
        default_factory=lambda: FitSettings(
            epochs=12, patience=3, batch_size=32, max_length=400, clip_norm=0.0, average_decay=0.99
        )
    )
    reader: ReaderSettings = field(default_factory=ReaderSettings)


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


_USUAL = ReaderSettings()


def tokenized(text: str, settings: ReaderSettings = _USUAL) -> TokenizedText:
    """A question or a passage in tokens; there may be none. They are in NFC; offsets are of the text as it is."""
    read, places = composed(text)
    words = tokenizer(settings.question_tokenizer)(read)
    offsets = list(_split(read, _offsets(read, words)) if settings.split_hyphens else _offsets(read, words))
    tokens = [read[start:end] for start, end in offsets]
    if settings.plain_quotes:
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
