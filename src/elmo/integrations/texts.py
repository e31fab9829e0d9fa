"""Texts as a table's column has them -> lists of tokens."""

from collections.abc import Iterable, Sequence
from typing import Any

from elmo.text.first_look.sample import ModelReader
from elmo.text.sentence_checks import checked_sentence, rows_of
from elmo.text.sentences import Tokenize


def tokenized(
    texts: Iterable[Any], tokenizer: str | Tokenize, reader: ModelReader, *, plain_quotes: bool = True
) -> list[Sequence[str]]:
    """Each text as a list of tokens: a string by the tokenizer, a list of tokens as it is.

    `texts`: a list, a column of a table, an array, a generator. `tokenizer`: a name known to `elmo.text.tokenizer`, or
    a function. `reader`: of the model, which warns of each thing once. `plain_quotes`: whether strings have their
    typographic marks read as plain ones where the model knows only these. Raises ConfigError for anything else, such as
    a missing value, with its place.
    """
    given = [_text(text, place) for place, text in enumerate(rows_of(texts))]
    raw = iter(reader.tokens([text for text in given if isinstance(text, str)], tokenizer, plain_quotes=plain_quotes))
    return [next(raw) if isinstance(text, str) else text for text in given]


def _text(text: Any, place: int) -> str | Sequence[str]:
    if hasattr(text, "as_py"):  # pyarrow's
        text = text.as_py()
    if isinstance(text, str):
        return text
    return checked_sentence(list(text) if hasattr(text, "tolist") else text, f"sentences[{place}]")
