"""What counts as a sentence, for everything that takes sentences from Python; anything else is named with its place.

A sentence is a list of tokens, or a string that is split on whitespace. One mistake can't be seen from a single
sentence: ["The", "river", "bank"] may be one tokenized sentence, passed without the list around it, or three sentences
of one word. Nobody can know, so it is an error that names both ways to write it.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import chain
from typing import Any

from elmo.errors import ConfigError, ElmoError
from elmo.process.text_table import shortened

# Sentences of a stream that are looked at before the first one is given on.
_LOOKED_AT = 512
_WORDS_SHOWN = 30
_LONGEST_SHOWN = 60
_ENDS = frozenset(".!?…。！？")
_SPACES_OF_TEXT = 3


class Tokens(list[str]):
    """The tokens that another program has found in a sentence: none of them is a text that was not split."""


def checked_sentences(sentences: Any) -> list[Sequence[str]]:
    """All sentences as lists of tokens.

    A column of a table (of pandas, pyarrow, datasets, ...) and an array have a sentence in each row. Raises ConfigError
    for a plain string, for a sentence or token of another type, and for a flat list of words: two or more strings, none
    of which has whitespace. A sentence of one word is written as a list: `[["yes"], ["no"]]`.
    """
    found = list(_items(sentences))
    if not is_column(sentences):
        refuse_flat_list(found, "sentences")
    return [checked_sentence(sentence, f"sentences[{place}]") for place, sentence in enumerate(found)]


def checked_stream(sentences: Any, window: int = _LOOKED_AT) -> Iterator[Sequence[str]]:
    """As `checked_sentences`, one by one. A flat list of words is noticed in the first `window` sentences (at least 2).

    What is not an iterable at all is refused here and now, everything else when its turn comes.
    """
    return _checked(_items(sentences), 0 if is_column(sentences) else max(2, window))


def checked_sentence(sentence: Any, name: str) -> Sequence[str]:
    """One sentence as a list of tokens; a string is split on whitespace. `name`: what the ConfigError calls it."""
    if isinstance(sentence, str):
        return sentence.split()
    if isinstance(sentence, Tokens):
        return sentence
    listed = list(require_ordered(sentence, name, "a list of tokens or a string"))
    for position, token in enumerate(listed):
        if not isinstance(token, str):
            why = "but a token is a string. Convert it to one; an empty string is a token too"
        elif token[-1:] in ("\n", "\r", "\t") and not token.isspace():
            why = "which ends with a line end or a tab, so it would be another token. Split lines with line.split()"
        else:
            continue
        raise ConfigError(f"{name}[{position}] is {_short(token)}, {why}.")
    if are_texts(listed):
        raise ConfigError(
            f"{name} is a list of texts, such as {shortened(repr(longest(listed)), _LONGEST_SHOWN)}. Pass each as a "
            "sentence of its own, or raw text to embed_text."
        )
    return listed


def are_texts(tokens: Sequence[str]) -> bool:
    """Whether most of a list end in a mark and have several words, or one has many, as no tokens are and do."""
    spaces = [token.count(" ") for token in tokens if token[-1:] in _ENDS]
    most = len(tokens) > 1 and 2 * sum(count > 0 for count in spaces) > len(tokens)
    return most or max(spaces, default=0) >= _SPACES_OF_TEXT


def longest(texts: Sequence[str]) -> str:
    """The one to show of a list for which `are_texts`: the first may be a word."""
    return max(texts, key=lambda text: text.count(" "))


def is_column(value: Any) -> bool:
    """Whether it is a column of a table or an array, whose rows are texts, and no list that could be a sentence."""
    return not isinstance(value, str) and any(
        hasattr(value, it) for it in ("to_pylist", "dtype", "iloc", "column_name")
    )


def rows_of(column: Any) -> Any:
    """What gives the rows of a column, list, generator or iterator; of pyarrow's as Python's own values."""
    return column.to_pylist() if hasattr(column, "to_pylist") else column


def require_ordered(value: Any, name: str, needed: str) -> Iterator[Any]:
    """The items of a value; ConfigError if it has none, or isn't a list of what it iterates over: of a string the
    letters, of a dict or table the names, and of a set in no order.

    `name`: what the message calls it; `needed`: what it should be.
    """
    try:
        if not isinstance(value, str | bytes | Mapping | Set) and not hasattr(value, "columns"):
            return iter(value)
    except TypeError:  # no iterable, or an array or a tensor without axes
        pass
    raise ConfigError(
        f"{name} must be {needed} (got {_short(value)}). Put one text into a list: [text]; of a table pass a column."
    )


def require_place(tokens: Sequence[str], place: int) -> None:
    """ConfigError unless `place`, from 0, is that of a token: counted from the end it would be a boundary's."""
    if not 0 <= place < len(tokens):
        raise ConfigError(f"place is {place}, but the sentence has {len(tokens)} tokens. Use a place below, from 0.")


def refuse_flat_list(sentences: Sequence[Any], name: str, error: type[ElmoError] = ConfigError) -> None:
    """An `error` for two or more words, which could be one sentence or sentences of one word."""
    words = [str(word) for word in sentences if word]
    if len(words) < 2 or not all(map(_has_no_space, sentences)):
        return
    shown = shortened(", ".join(map(repr, words[:_WORDS_SHOWN])), _LONGEST_SHOWN)
    raise error(
        f"{name} is a flat list of words: it could be one sentence or {len(words)} sentences of one word. Pass one "
        f"sentence as [[{shown}]], sentences of one word as [[{words[0]!r:.{_LONGEST_SHOWN}}], ...]."
    )


def _checked(items: Iterator[Any], window: int) -> Iterator[Sequence[str]]:
    seen: list[Any] = []
    while len(seen) < window and all(map(_has_no_space, seen[-1:])):
        try:
            seen.append(next(items))
        except StopIteration:
            break
    refuse_flat_list(seen, "sentences")
    for place, sentence in enumerate(chain(seen, items)):
        yield checked_sentence(sentence, f"sentences[{place}]")


def _items(sentences: Any) -> Iterator[Any]:
    if getattr(sentences, "shape", ())[1:] == (1,):
        sentences = sentences[:, 0]
    return require_ordered(rows_of(sentences), "sentences", "a list of sentences, each a list of tokens or a string")


def _has_no_space(sentence: Any) -> bool:
    return isinstance(sentence, str) and not any(character.isspace() for character in sentence)


def _short(value: object) -> str:
    return f"{shortened(repr(value), _LONGEST_SHOWN)} ({type(value).__name__})"
