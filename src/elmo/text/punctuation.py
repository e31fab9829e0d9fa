"""Punctuation: whether a text shows that it is tokenized, or that it isn't.

In tokenized text, marks, brackets and quotes are separate (`( in the rain ) .`), and so are the ends that a treebank
takes off words ("do n't", "it 's"); in raw text they touch words or each other (`(in the rain).`). The tokenizer
"unicode" decides what is a mark and what is part of an abbreviation or number: "Mr.", "U.S." and "3.5" have none.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from elmo.process.text_table import shortened
from elmo.text.reading.spans import INVISIBLE

_MARKS = frozenset(".,;:!?…。，、！？；：।؟۔")
_OPENING, _CLOSING = frozenset("([{“„«「『《〈【"), frozenset(")]}”»」』》〉】")
_PAIRED = _OPENING | _CLOSING | {'"'}
# What only tokenized text has between spaces. Dots ("...") and dashes stand apart in raw text too.
_APART = re.compile(
    r"(?<!\S)(?:[.,;:!?。，、！？；：।؟۔(){}\[\]\"“”„「」『』]|``|''|n['’]t|['’](?:s|re|ve|ll|d|m)?|-[LR][RSC]B-)(?!\S)",
    re.IGNORECASE,
)
# Tokens of other models, whose brackets say nothing: "[MASK]", "<pad>", "</s>".
SPECIAL_TOKEN = re.compile(
    r"\[(?:PAD|UNK|CLS|SEP|MASK|BOS|EOS)\]|</?(?:s|pad|unk|cls|sep|mask|bos|eos)>|<\|(?:endoftext|startoftext|pad)\|>",
    re.IGNORECASE,
)

# "word(s)" is a token of tokenized text too.
_WITHIN_A_WORD = re.compile(r"(?<=\w)(?:\([^\s()]*\)|\[[^\s\[\]]*\])")


@dataclass(frozen=True)
class Punctuation:
    """How many of some texts are tokenized."""

    tokenized: int = 0
    """Texts that show that they are tokenized."""
    raw: int = 0
    """Texts that show that they are not."""
    example: str = ""
    """The first word with spaces around it that isn't one token by the rules: "rain."."""

    @property
    def is_raw(self) -> bool:
        """Whether more texts are raw than tokenized."""
        return self.raw > self.tokenized

    @property
    def is_tokenized(self) -> bool:
        """Whether the texts are tokenized as a whole, but for a few that hold something odd."""
        return self.tokenized > _FEW * self.raw


_MOST_COLUMNS = 60  # of an example
# A tokenized text of which one sentence in so many looks raw is tokenized all the same: "word(s)", "5:30p.m.".
_FEW = 4


def punctuation_of(texts: Iterable[str], tokenize: Callable[[str], list[str]]) -> Punctuation:
    """What some texts show; `tokenize`: the tokenizer "unicode"."""
    tokenized = raw = 0
    example = ""
    for text in texts:
        tokens = tokenize(text)
        apart, touching = _apart(text), _touching(text, tokens)
        tokenized += apart > touching
        raw += touching > apart
        if not example and len(tokens) > len(text.split()):
            example = as_example(next((word for word in text.split() if len(tokenize(word)) > 1), ""))
    return Punctuation(tokenized, raw, example)


def as_example(text: str) -> str:
    """A piece of text for a message, cut if it is long."""
    return shortened(text, _MOST_COLUMNS)


def shows_tokens(text: str, tokens: Sequence[str]) -> bool:
    """Whether a text shows that it is tokenized: more marks are separate than touch something.

    `tokens`: those of the tokenizer "unicode". Without any mark, nothing is shown.
    """
    apart = _apart(text)
    return apart > 0 and apart > _touching(text, tokens)


def _apart(text: str) -> int:
    """Marks, brackets, quotes and ends of words between spaces."""
    return len(_APART.findall(text))


def _touching(text: str, tokens: Sequence[str]) -> int:
    """Marks, brackets and quotes that touch a word or each other."""
    kept = (SPECIAL_TOKEN, _WITHIN_A_WORD)
    parts = {place for pattern in kept for match in pattern.finditer(text) for place in range(*match.span())}
    found = end = 0
    for token in tokens:
        start = text.index(token, end)
        end = start + len(token)
        if start in parts:
            continue
        before, after = text[start - 1 : start], text[end : end + 1]
        if token[0] in _MARKS:
            found += not (_is_space(before) or before in _MARKS)
        elif token in _PAIRED:
            found += (token not in _OPENING and _is_bound(before)) or (token not in _CLOSING and _is_bound(after))
    return found


def _is_space(character: str) -> bool:
    return not character or character.isspace() or character in INVISIBLE


def _is_bound(character: str) -> bool:
    """Whether a bracket or quote beside it belongs to a word: not the mouth of a face, ":)"."""
    return character.isalnum() or character in _PAIRED
