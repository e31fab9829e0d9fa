"""Where the tokens of a text stand in it."""

from collections.abc import Sequence

Span = tuple[int, int]
"""First character and the one after the last, both counted from 0 in Unicode code points, as Python counts."""


def token_spans(text: str, tokens: Sequence[str]) -> list[Span | None]:
    """Each token's place in the text that a tokenizer made it from, looked for after the one before.

    None: the token isn't there, because the tokenizer changed its characters. An empty token has an empty span.
    """
    spans: list[Span | None] = []
    end = 0
    for token in tokens:
        start = text.find(token, end)
        if start < 0:
            spans.append(None)
            continue
        end = start + len(token)
        spans.append((start, end))
    return spans
