"""Windows: a stream of sentences -> groups bounded in sentences and tokens. They depend on the stream alone."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

S = TypeVar("S")


def windows(
    sentences: Iterable[S],
    max_sentences: int,
    max_tokens: int | None,
    length: Callable[[S], int] = len,  # the default is for sized ones
) -> Iterator[list[S]]:
    """Up to `max_sentences` sentences at a time, of `max_tokens` tokens together (None: no bound); a longer one alone.

    Boundaries count as tokens. `length`: the number of a sentence's own tokens.
    """
    window: list[S] = []
    tokens = 0
    for sentence in sentences:
        size = length(sentence) + 2
        too_many = max_tokens is not None and tokens + size > max_tokens
        if window and (len(window) == max_sentences or too_many):
            yield window
            window, tokens = [], 0
        window.append(sentence)
        tokens += size
    if window:
        yield window
