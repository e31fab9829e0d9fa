"""Spans: the places of tokens in the text that they were made of."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

NOWHERE = (-1, -1)
"""The span of a token that isn't in the text as it is, because the tokenizer changed it."""

# What tokenizers leave out besides spaces: invisible marks, most of them of the direction of writing.
INVISIBLE = "\u061c\u180e\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\ufeff" + "".join(
    map(chr, range(0x2060, 0x2070))
)
# Characters of the text that may belong to a token that was changed, besides its own length.
_SLACK = 8


def token_spans(text: str, tokens: Sequence[str], start: int = 0) -> NDArray[np.int64]:
    """(tokens, 2) the beginning and end of each token in `text`, in characters from 0, the end exclusive.

    `start` is added to all of them. Tokens are looked for one after the other, with nothing but spaces and invisible
    marks between them. A token that isn't there, since a tokenizer may change what it reads ("(" to "-LRB-"), has
    `NOWHERE`, and the next one is looked for a little farther on.
    """
    spans = np.empty((len(tokens), 2), dtype=np.int64)
    end, slack = 0, 0
    for place, token in enumerate(tokens):
        found = _found(text, token, end, slack)
        if found < 0 or not token:
            spans[place] = NOWHERE
            slack += len(token) + _SLACK
        else:
            end, slack = found + len(token), 0
            spans[place] = found + start, end + start
    return spans


def _found(text: str, token: str, end: int, slack: int) -> int:
    """Where the token begins after `end`, with at most `slack` characters between; -1: nowhere."""
    at = end
    while not text.startswith(token, at):
        if at == len(text) or not (text[at].isspace() or text[at] in INVISIBLE):
            return text.find(token, at, at + slack + len(token)) if slack else -1
        at += 1
    return at
