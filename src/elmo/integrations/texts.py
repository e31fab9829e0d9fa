"""Texts as a table's column has them -> lists of tokens."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from elmo.errors import ConfigError
from elmo.text.sentence_checks import checked_sentence
from elmo.text.tokenizer import tokenizer as named_tokenizer

Tokenize = Callable[[str], list[str]]


def tokenized(texts: Iterable[Any], tokenizer: str | Tokenize) -> list[Sequence[str]]:
    """Each text as a list of tokens: a string by the tokenizer, a list of tokens as it is.

    `tokenizer`: a name known to `elmo.text.tokenizer`, or a function. Raises ConfigError for anything else, such as a
    missing value, with its place.
    """
    split = named_tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer
    return [_tokens(text, place, split) for place, text in enumerate(texts)]


def _tokens(text: Any, place: int, split: Tokenize) -> Sequence[str]:
    if isinstance(text, str):
        return split(text)
    if text is None or isinstance(text, float):
        raise ConfigError(
            f"text {place} is {text!r}: a missing value is not text. Drop it, or fill it with '', which has the vector "
            "of zeros."
        )
    return checked_sentence(list(text) if hasattr(text, "tolist") else text, place)
