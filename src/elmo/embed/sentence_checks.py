"""What counts as a sentence; whatever doesn't is named with its place."""

from collections.abc import Iterable, Sequence
from typing import Any

from elmo.errors import ConfigError


def checked_sentences(sentences: Any) -> list[Sequence[str]]:
    """All sentences as lists of tokens."""
    if isinstance(sentences, str | bytes):
        raise ConfigError(
            f"sentences is the plain string {_short(sentences)}, but a list of sentences is needed, for instance "
            "[['A', 'first', 'sentence'], 'A second one']. Put it into a list: embed([text])."
        )
    if not isinstance(sentences, Iterable):
        raise ConfigError(
            f"sentences is {_short(sentences)}, but a list of sentences is needed, each a list of tokens or a string."
        )
    return [checked_sentence(sentence, place) for place, sentence in enumerate(sentences)]


def checked_sentence(sentence: Any, place: int) -> Sequence[str]:
    """One sentence as a list of tokens; a string is split on whitespace. `place` counts from 0."""
    if isinstance(sentence, str):
        return sentence.split()
    if isinstance(sentence, bytes) or not isinstance(sentence, Iterable):
        raise ConfigError(
            f"sentences[{place}] is {_short(sentence)}, but a sentence is a list of tokens or a string. "
            "Decode bytes first; give an empty list where there is no sentence."
        )
    tokens = list(sentence)
    for position, token in enumerate(tokens):
        if not isinstance(token, str):
            raise ConfigError(
                f"sentences[{place}][{position}] is {_short(token)}, but a token is a string. Turn it into one; an "
                "empty string is a token too."
            )
    return tokens


def _short(value: object) -> str:
    text = repr(value)
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(value).__name__})"
