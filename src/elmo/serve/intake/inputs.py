"""The texts of a request as tokens, within the limits of a request."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from elmo.serve.models import ServedModel
from elmo.serve.refusals import invalid
from elmo.serve.settings import ServeSettings
from elmo.text.reading.placed import placed_as_one
from elmo.text.reading.settings import Reading
from elmo.text.sentences import Tokenize
from elmo.text.tokenizer import tokenizer as named_tokenizer
from elmo.text.word_list import has_surrogate

Text = str | list[str]
"""A text, or its tokens."""
Input = str | list[Text]
"""One text, or several texts or lists of tokens."""

# Characters that one request may have tokenized in the event loop.
_LONG = 20_000
_LOG = logging.getLogger("elmo.serve")
TOKENIZERS = ("auto", "unicode", "whitespace")

Span = tuple[int, int]
"""First character and the one after the last, both counted from 0 in Unicode code points, as Python counts."""


@dataclass(frozen=True)
class ReadTexts:
    """The texts of a request, as its model reads them."""

    sentences: list[list[str]]
    """The tokens of each."""
    spans: list[list[Span | None] | None]
    """Where each token stands in its text; None for a token that isn't there, because a tokenizer changed it, and for a
    text that came as tokens."""
    warnings: list[str]
    """What would make their vectors poor, or is read otherwise than it is written."""

    @property
    def headers(self) -> dict[str, str]:
        """The warnings as headers of the answer."""
        shown = "; ".join(self.warnings).encode("ascii", "backslashreplace").decode("ascii").replace('"', "'")
        return {"Warning": f'299 elmo "{shown}"'} if shown else {}


async def sentences_of(given: Input, tokenizer: str | None, model: ServedModel, settings: ServeSettings) -> ReadTexts:
    """The inputs, read one by one.

    `tokenizer`: "auto", "unicode" or "whitespace"; None: the server's. Raises Refusal (400) for no input, for more
    inputs or tokens than the settings allow, and for what is not valid text.
    """
    inputs: list[Text] = [given] if isinstance(given, str) else list(given)
    if not inputs:
        raise invalid("input is an empty list, so there is nothing to embed. Send at least one text.", "input", "empty")
    if len(inputs) > settings.max_inputs:
        raise invalid(
            f"input has {len(inputs):,} texts, but at most {settings.max_inputs:,} are taken at a time. Send them in "
            "several requests.",
            "input",
            "too_many_inputs",
        )
    names = ["input"] if isinstance(given, str) else [f"input[{place}]" for place in range(len(inputs))]
    return await read_texts(dict(zip(names, inputs, strict=True)), tokenizer, model, settings)


async def read_texts(
    texts: Mapping[str, Text], tokenizer: str | None, model: ServedModel, settings: ServeSettings
) -> ReadTexts:
    """The texts as the model reads them; `texts` has them by the names that messages use, such as "input[0]"."""
    name, split = tokenize_by(tokenizer, settings)
    read = partial(_read, texts, split, Reading(tokenizer=name, plain_quotes=settings.plain_quotes), model, settings)
    # Long texts take long: elsewhere, so that the others don't wait.
    is_long = sum(len(text) for text in texts.values() if isinstance(text, str)) > _LONG
    return await asyncio.to_thread(read) if is_long else read()


def _read(
    texts: Mapping[str, Text], split: Tokenize, reading: Reading, model: ServedModel, settings: ServeSettings
) -> ReadTexts:
    reader = model.embedder.reader
    marks = reader.marks(reading.plain_quotes)
    room = settings.max_tokens
    sentences: list[list[str]] = []
    spans: list[list[Span | None] | None] = []
    for name, text in texts.items():
        _require_characters(text, name)
        # A text has no more words than tokens, and they are found much faster.
        has_room = not isinstance(text, str) or len(text.split(None, room)) <= room
        placed = placed_as_one(text, split, marks, reading.tokenizer) if isinstance(text, str) and has_room else None
        tokens = text if isinstance(text, list) else placed.tokens if placed else []
        if not has_room or len(tokens) > room:
            raise invalid(
                f"the texts have more than {settings.max_tokens:,} tokens, the most of a request, as of {name}. Send "
                "fewer or shorter texts at a time; for a whole corpus use 'elmo embed'.",
                _field(name),
                "too_many_tokens",
            )
        room -= len(tokens)
        sentences.append(tokens)
        spans.append(None if placed is None else [_span(*span) for span in placed.spans.tolist()])
    return ReadTexts(sentences, spans, reader.look(list(texts.values()), sentences, reading, _LOG.warning))


def _span(start: int, stop: int) -> Span | None:
    return None if start < 0 else (start, stop)


def tokenize_by(name: str | None, settings: ServeSettings) -> tuple[str, Tokenize]:
    """The tokenizer that a request names, or the server's own; a request can't name code ("module:function")."""
    if name is None or name == settings.tokenizer:
        return settings.tokenizer, named_tokenizer(settings.tokenizer)
    if name not in TOKENIZERS:
        raise invalid(
            f"tokenizer is {name[:100]!r}, but this server has {', '.join(TOKENIZERS)}. Use one of them, or send lists "
            "of tokens.",
            "tokenizer",
        )
    return name, named_tokenizer(name)


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
