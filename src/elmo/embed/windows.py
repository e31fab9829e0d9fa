"""Windows: a stream of sentences -> groups bounded in sentences and tokens. They depend on the stream alone."""

from collections.abc import Iterable, Iterator, Sequence

Sentence = Sequence[str]


def windows(sentences: Iterable[Sentence], max_sentences: int, max_tokens: int | None) -> Iterator[list[Sentence]]:
    """Up to `max_sentences` sentences at a time, of `max_tokens` tokens together (None: no bound); a longer one alone.

    Boundaries count as tokens.
    """
    window: list[Sentence] = []
    tokens = 0
    for sentence in sentences:
        size = len(sentence) + 2
        too_many = max_tokens is not None and tokens + size > max_tokens
        if window and (len(window) == max_sentences or too_many):
            yield window
            window, tokens = [], 0
        window.append(sentence)
        tokens += size
    if window:
        yield window
