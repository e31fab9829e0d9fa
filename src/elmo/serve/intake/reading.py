"""A request's body as a typed value, read with limits: size, time, JSON, and the type that the route expects."""

import asyncio
import re
from collections.abc import Sequence
from typing import TypeVar

import msgspec
from starlette.requests import ClientDisconnect, Request

from elmo.serve.refusals import Refusal, invalid
from elmo.serve.settings import ServeSettings

R = TypeVar("R")
# How msgspec ends the message of a value that has not the right type: " - at `$.input[0]`".
_PLACE = re.compile(r" - at `\$\.?(?P<field>\w*)(?P<rest>.*)`$")


async def read_json(request: Request, expected: type[R], settings: ServeSettings) -> R:
    """The body as an `expected`, a msgspec Struct. Raises Refusal for anything else."""
    _require_json(request)
    body = await _body(request, settings)
    try:
        return msgspec.json.decode(body, type=expected)
    except msgspec.ValidationError as error:
        raise _wrong_type(str(error), expected) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise invalid(
            f"the body is not valid JSON: {str(error).rstrip('.')}. Send one JSON object, in UTF-8, without NaN or "
            "Infinity.",
            code="invalid_json",
        ) from None


def _require_json(request: Request) -> None:
    media_type = request.headers.get("content-type", "")
    if media_type.partition(";")[0].strip().lower() != "application/json":
        raise Refusal(
            415,
            f"the body's type is {media_type[:100]!r}, but only JSON is read. Send the header 'Content-Type: "
            "application/json'.",
            "unsupported_media_type",
        )
    encoding = request.headers.get("content-encoding", "identity")
    if encoding.lower() != "identity":
        raise Refusal(
            415,
            f"the body's encoding is {encoding[:100]!r}, but bodies are not unpacked here. Send it as it is, without "
            "the header Content-Encoding.",
            "unsupported_encoding",
        )


async def _body(request: Request, settings: ServeSettings) -> bytes:
    """All of it; counted, because what Content-Length says may be missing."""
    most, chunks, size = settings.max_body_bytes, [], 0
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared[:20]) > most:
        raise too_large(most)
    try:
        async with asyncio.timeout(settings.body_seconds):
            async for chunk in request.stream():
                size += len(chunk)
                if size > most:
                    raise too_large(most)
                chunks.append(chunk)
    except TimeoutError:
        raise Refusal(
            408,
            f"the body did not arrive within {settings.body_seconds:g} seconds. Send the request again over a faster "
            "connection, or send less at a time.",
            "body_timeout",
            headers={"Connection": "close"},
        ) from None
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
        return invalid(
            "input has integers in it, as if it were token ids, but this server reads text: its models read the "
            "characters of words. Send strings, or lists of words. In LangChain pass "
            "OpenAIEmbeddings(..., check_embedding_ctx_length=False), which sends the texts themselves.",
            "input",
            "token_ids",
        )
    where = f"{param}{place['rest']}" if place and param else "the request"
    reason = message[: place.start()] if place else message
    return invalid(f"{where}: {reason}. {_fields(expected)}", param, "invalid_type")


def _fields(expected: type[object]) -> str:
    names: Sequence[str] = [field.encode_name for field in msgspec.structs.fields(expected)]  # type: ignore[arg-type]
    return f"The fields of this request are: {', '.join(names)}; /openapi.json has their types."
