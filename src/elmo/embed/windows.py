"""Windows: a stream of sentences -> groups bounded in sentences and tokens. They depend on the stream alone."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

S = TypeVar("S")


def _with_boundaries(sentence: Any) -> int:
    return len(sentence) + 2


def windows(
    sentences: Iterable[S],
    max_sentences: int | None,
    max_tokens: int | None,
    length: Callable[[S], int] = _with_boundaries,
) -> Iterator[list[S]]:
    """Up to `max_sentences` sentences at a time, of `max_tokens` tokens together (None: no bound); a longer one alone.

    `length`: the tokens of a sentence; default: its own and the two boundaries.
    """
    window: list[S] = []
    tokens = 0
    for sentence in sentences:
        size = length(sentence)
        too_many = max_tokens is not None and tokens + size > max_tokens
        if window and (len(window) == max_sentences or too_many):
            yield window
            window, tokens = [], 0
        window.append(sentence)
        tokens += size
    if window:
        yield window
