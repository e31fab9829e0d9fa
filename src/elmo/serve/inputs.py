"""A request's body as a typed value, and its texts as tokens, within the limits of a request."""

import asyncio
import codecs
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal, TypeVar

import msgspec
from starlette.requests import ClientDisconnect, Request

from elmo.serve.answers import Refusal, invalid
from elmo.serve.models import ServedModel
from elmo.serve.settings import ServeSettings
from elmo.text.reading.as_trained import as_trained
from elmo.text.reading.placed import placed_as_one
from elmo.text.reading.settings import Reading
from elmo.text.sentence_checks import checked_sentence
from elmo.text.sentences import Tokenize
from elmo.text.tokenizer import tokenizer as named_tokenizer

R = TypeVar("R")
Text = str | list[str]
"""A text, or its tokens."""
Input = str | Annotated[list[Text], msgspec.Meta(min_length=1)]
"""One text, or several texts or lists of tokens."""

# Characters, and tokens of lists, that are read in the event loop.
_LONG = 20_000
_LOG = logging.getLogger("elmo.serve")
Tokenizer = Literal["auto", "unicode", "whitespace"]

Span = tuple[int, int]
"""First character and the one after the last, both counted from 0 in Unicode code points, as Python counts."""
# How msgspec ends the message of a value that has not the right type: " - at `$.input[0]`".
_PLACE = re.compile(r" - at `\$\.?(?P<field>\w*+)(?P<rest>[^`]*+)`$")


class TextRequest(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What every request that has texts may say."""

    model: str | None = None
    """A name of /v1/models; null: the first of them."""
    tokenizer: Tokenizer | None = None
    """How texts are split into tokens: "auto", "unicode" or "whitespace"; null: the server's default."""


async def read_json(request: Request, expected: type[R], settings: ServeSettings) -> R:
    """The body as an `expected`, a msgspec Struct. Raises Refusal for anything else."""
    body = (await _body(request, settings)).removeprefix(codecs.BOM_UTF8)  # as Windows programs write it
    try:
        return msgspec.json.decode(body, type=expected)
    except msgspec.ValidationError as error:
        raise _wrong_type(str(error), expected) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        message = f"the body is not valid JSON: {str(error).rstrip('.')}. Send one JSON object, in UTF-8, without NaN."
        raise invalid(message, code="invalid_json") from None


async def _body(request: Request, settings: ServeSettings) -> bytes:
    """The whole body; counted as it comes, because Content-Length may be missing or wrong."""
    most, chunks, size = settings.max_body_bytes, [], 0
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared[:20]) > most:  # before any of it comes
        raise too_large(most)
    try:
        async with asyncio.timeout(settings.body_seconds):
            async for chunk in request.stream():
                size += len(chunk)
                if size > most:
                    raise too_large(most)
                chunks.append(chunk)
    except TimeoutError:
        message = f"the body did not arrive within {settings.body_seconds:g} seconds. Send less at a time."
        raise Refusal(408, message, "body_timeout", headers={"Connection": "close"}) from None
    except ClientDisconnect:
        raise Refusal(400, "the connection ended before the body did. Send the request again.", "cut_off") from None
    return b"".join(chunks)


def too_large(most: int) -> Refusal:
    """The answer to a body of more than `most` bytes."""
    return Refusal(
        413,
        f"the body has more than {most:,} bytes, the most this server reads. Send fewer texts at a time; for a whole "
        "corpus use 'elmo embed'.",
        "body_too_large",
        headers={"Connection": "close"},
    )


def _wrong_type(message: str, expected: type[object]) -> Refusal:
    place = _PLACE.search(message)
    param = place["field"] or None if place else None
    if param == "input" and "got `int`" in message:
        message = (
            f"{param} has token ids in it, but this server reads text. Send strings, or lists of words (LangChain: "
        )
        return invalid(f"{message}OpenAIEmbeddings(..., check_embedding_ctx_length=False)).", param, "token_ids")
    where = f"{param}{place['rest']}" if place and param else "the request"
    reason = message[: place.start()] if place else message
    names: Sequence[str] = [field.encode_name for field in msgspec.structs.fields(expected)]  # type: ignore[arg-type]
    message = f"{where}: {reason}. The fields of this request are: {', '.join(names)}; /openapi.json has their types."
    return invalid(message, param, "invalid_type")


@dataclass(frozen=True)
class ReadTexts:
    """The texts of a request, as its model reads them."""

    sentences: list[list[str]]
    """The tokens of each."""
    spans: list[list[Span | None] | None]
    """The span of each token in its text; None for a token that a tokenizer changed, and for a text that came as
    tokens."""
    warnings: list[str]
    """Reasons for poor vectors, and tokens that are read differently from how they are written."""

    @property
    def headers(self) -> dict[str, str]:
        """The warnings as headers of the answer."""
        shown = "; ".join(self.warnings).encode("ascii", "backslashreplace").decode("ascii")
        quoted = re.sub(r'[\\"]', r"\\\g<0>", shown)  # as RFC 9110 quotes strings
        return {"Warning": f'299 elmo "{quoted}"'} if shown else {}


def listed(given: str | Sequence[Text], name: str, settings: ServeSettings) -> dict[str, Text]:
    """One text or several, of the field `name`, each by the name that messages use: "input", or "input[0]" ...

    Raises Refusal (400) for more than the settings allow.
    """
    texts: list[Text] = [given] if isinstance(given, str) else list(given)
    if len(texts) > settings.max_inputs:
        message = f"{name} has {len(texts):,} texts, more than {settings.max_inputs:,}. Send several requests."
        raise invalid(message, name, "too_many_inputs")
    names = [name] if isinstance(given, str) else [f"{name}[{place}]" for place in range(len(texts))]
    return dict(zip(names, texts, strict=True))


async def read_texts(
    texts: Mapping[str, Text], tokenizer: str | None, model: ServedModel, settings: ServeSettings
) -> ReadTexts:
    """The texts as the model reads them; `texts` has them by the names that messages use, such as "input[0]".

    `tokenizer`: "auto", "unicode" or "whitespace"; None: the server's. Raises Refusal (400) for more tokens than the
    settings allow, and for what is not valid text.
    """
    name, split = tokenize_by(tokenizer, settings)
    read = partial(_read, texts, split, Reading(tokenizer=name, plain_quotes=settings.plain_quotes), model, settings)
    # Long texts take long: elsewhere, so that the others don't wait.
    size = sum(len(text) + (0 if isinstance(text, str) else sum(map(len, text))) for text in texts.values())
    return await asyncio.to_thread(read) if size > _LONG else read()


def require_room(text: str, room: int, name: str, settings: ServeSettings) -> None:
    """Raises Refusal for a text of more words than `room`: it has no more words than tokens, and they are found much
    faster."""
    if len(text.split(None, room)) > room:
        raise _too_many(name, settings)


def _too_many(name: str, settings: ServeSettings) -> Refusal:
    return invalid(
        f"the texts have more than {settings.max_tokens:,} tokens, the most that a request may have; {name} is the "
        "first that exceeds this. Send fewer or shorter texts at a time; for a whole corpus use 'elmo embed'.",
        _field(name),
        "too_many_tokens",
    )


def _read(
    texts: Mapping[str, Text], split: Tokenize, reading: Reading, model: ServedModel, settings: ServeSettings
) -> ReadTexts:
    reader = model.embedder.reader
    marks = reader.marks(reading.plain_quotes)
    room = settings.max_tokens
    sentences: list[list[str]] = []
    spans: list[list[Span | None] | None] = []
    for name, text in texts.items():
        placed = None
        if isinstance(text, str):
            require_room(text, room, name, settings)
            placed = placed_as_one(text, split, marks, reading.tokenizer)
            tokens = placed.tokens
        else:
            tokens = as_trained(text, marks)
        if len(tokens) > room:
            raise _too_many(name, settings)
        room -= len(tokens)
        if isinstance(text, list):
            checked_sentence(text, name)
        sentences.append(tokens)
        spans.append(None if placed is None else [_span(*span) for span in placed.spans.tolist()])
    return ReadTexts(sentences, spans, reader.look(list(texts.values()), sentences, reading, _LOG.warning))


def _span(start: int, stop: int) -> Span | None:
    return None if start < 0 else (start, stop)


def tokenize_by(name: str | None, settings: ServeSettings) -> tuple[str, Tokenize]:
    """The tokenizer that a request names, or the server's own; a request can't name code ("module:function")."""
    name = name or settings.tokenizer
    return name, named_tokenizer(name)


def _field(name: str) -> str:
    return name.partition("[")[0]
