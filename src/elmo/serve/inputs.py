"""The texts of a request as tokens, within the limits of a request."""

from collections.abc import Callable

from elmo.serve.refusals import invalid
from elmo.serve.settings import ServeSettings
from elmo.text.token_form import has_surrogate
from elmo.text.tokenizer import tokenizer as named_tokenizer

Text = str | list[str]
"""A text, or its tokens."""
Input = str | list[Text]
"""One text, or several texts or lists of tokens."""

TOKENIZERS = ("unicode", "whitespace")


def sentences_of(given: Input, tokenizer: str | None, settings: ServeSettings) -> tuple[list[Text], list[list[str]]]:
    """The inputs one by one, and the tokens of each.

    `tokenizer`: "unicode" or "whitespace"; None: the server's. Raises Refusal (400) for no input, for more inputs or
    tokens than the settings allow, and for text that is no text.
    """
    inputs: list[Text] = [given] if isinstance(given, str) else list(given)
    if not inputs:
        raise invalid("input is an empty list, so there is nothing to embed. Send at least one text.", "input", "empty")
    if len(inputs) > settings.max_inputs:
        raise invalid(
            f"input has {len(inputs):,} texts, but at most {settings.max_inputs} are taken at a time. Send them in "
            "several requests.",
            "input",
            "too_many_inputs",
        )
    split, room, sentences = tokenize_by(tokenizer, settings), settings.max_tokens, []
    for place, text in enumerate(inputs):
        sentences.append(_tokens(text, place, split, room, settings.max_tokens))
        room -= len(sentences[-1])
    return inputs, sentences


def tokenize_by(name: str | None, settings: ServeSettings) -> Callable[[str], list[str]]:
    """The tokenizer that a request names, or the server's own; a request can't name code ("module:function")."""
    if name is None or name == settings.tokenizer:
        return named_tokenizer(settings.tokenizer)
    if name not in TOKENIZERS:
        raise invalid(
            f"tokenizer is {name[:100]!r}, but this server has {' and '.join(TOKENIZERS)}. Use one of them, or send "
            "lists of tokens.",
            "tokenizer",
        )
    return named_tokenizer(name)


def _tokens(text: Text, place: int, split: Callable[[str], list[str]], room: int, most: int) -> list[str]:
    _require_characters(text, place)
    if isinstance(text, str):
        # A text has no more words than tokens, and they are found much faster.
        tokens = text.split(None, room)
        if len(tokens) <= room:
            tokens = split(text)
    else:
        tokens = text
    if len(tokens) > room:
        raise invalid(
            f"the texts have more than {most:,} tokens, the most of a request, as of input[{place}]. Send fewer or "
            "shorter texts at a time; for a whole corpus use 'elmo embed'.",
            "input",
            "too_many_tokens",
        )
    return tokens


def _require_characters(text: Text, place: int) -> None:
    if any(map(has_surrogate, [text] if isinstance(text, str) else text)):
        raise invalid(
            f"input[{place}] has one half of a surrogate pair (\\ud800 to \\udfff), which is no character. Send both "
            "halves, or leave it out.",
            "input",
            "invalid_character",
        )
