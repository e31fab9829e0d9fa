"""The texts of a request as tokens, within the limits of a request."""

import asyncio
from collections.abc import Callable, Mapping

from elmo.serve.refusals import invalid
from elmo.serve.settings import ServeSettings
from elmo.text.token_form import has_surrogate
from elmo.text.tokenizer import tokenizer as named_tokenizer

Text = str | list[str]
"""A text, or its tokens."""
Input = str | list[Text]
"""One text, or several texts or lists of tokens."""

# Characters that one request may have tokenized in the event loop.
_LONG = 20_000
TOKENIZERS = ("unicode", "whitespace")


async def sentences_of(
    given: Input, tokenizer: str | None, settings: ServeSettings
) -> tuple[list[Text], list[list[str]]]:
    """The inputs one by one, and the tokens of each.

    `tokenizer`: "unicode" or "whitespace"; None: the server's. Raises Refusal (400) for no input, for more inputs or
    tokens than the settings allow, and for what is not valid text.
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
    names = ["input"] if isinstance(given, str) else [f"input[{place}]" for place in range(len(inputs))]
    return inputs, await tokens_of(dict(zip(names, inputs, strict=True)), tokenizer, settings)


async def tokens_of(texts: Mapping[str, Text], tokenizer: str | None, settings: ServeSettings) -> list[list[str]]:
    """The tokens of each text; `texts` has them by the names that messages use, such as "input[0]"."""
    split = tokenize_by(tokenizer, settings)
    # Long texts take long: elsewhere, so that the others don't wait.
    is_long = sum(len(text) for text in texts.values() if isinstance(text, str)) > _LONG
    return (
        await asyncio.to_thread(_all_tokens, texts, split, settings) if is_long else _all_tokens(texts, split, settings)
    )


def _all_tokens(
    texts: Mapping[str, Text], split: Callable[[str], list[str]], settings: ServeSettings
) -> list[list[str]]:
    room, found = settings.max_tokens, []
    for name, text in texts.items():
        found.append(_tokens(text, name, split, room, settings.max_tokens))
        room -= len(found[-1])
    return found


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


def _tokens(text: Text, name: str, split: Callable[[str], list[str]], room: int, most: int) -> list[str]:
    _require_characters(text, name)
    if isinstance(text, str):
        # A text has no more words than tokens, and they are found much faster.
        tokens = text.split(None, room)
        if len(tokens) <= room:
            tokens = split(text)
    else:
        tokens = text
    if len(tokens) > room:
        raise invalid(
            f"the texts have more than {most:,} tokens, the most of a request, as of {name}. Send fewer or "
            "shorter texts at a time; for a whole corpus use 'elmo embed'.",
            _field(name),
            "too_many_tokens",
        )
    return tokens


def _require_characters(text: Text, name: str) -> None:
    if any(map(has_surrogate, [text] if isinstance(text, str) else text)):
        raise invalid(
            f"{name} has one half of a surrogate pair (\\ud800 to \\udfff), which is not a character. Send both "
            "halves, or leave it out.",
            _field(name),
            "invalid_character",
        )


def _field(name: str) -> str:
    return name.partition("[")[0]
