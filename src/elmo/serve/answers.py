"""Answers: msgspec values as responses, and refusals, in the shape of OpenAI's errors."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from elmo.errors import ElmoError, WeightFileError
from elmo.process.resources import is_out_of_memory

_JSON = "application/json"
_LINGER_SECONDS = 1.0
_NO_MEMORY = (
    "the server doesn't have enough memory for this request now. Send it again later, or send less at a time. On the "
    "server, lower --max-batch-tokens and --max-queued-tokens."
)


class ErrorDetail(msgspec.Struct):
    """What went wrong."""

    message: str
    """What, with the values; why; the next step."""
    type: str
    """"invalid_request_error", "rate_limit_error" or "server_error"."""
    param: str | None
    """The field of the request that is meant, such as "input", or null."""
    code: str | None
    """A short name for programs, such as "model_not_found"."""


class ErrorBody(msgspec.Struct):
    """The body of every answer whose status is 400 or more."""

    error: ErrorDetail


class Refusal(Exception):  # noqa: N818 - what it holds is an answer
    """Raised wherever a request can't be answered.

    `status`: of HTTP. `code`, `param`: see ErrorDetail. `headers`: further ones of the answer.
    """

    def __init__(
        self,
        status: int,
        message: str,
        code: str,
        *,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.param = param
        self.headers = dict(headers or {})

    def body(self) -> bytes:
        return msgspec.json.encode(ErrorBody(ErrorDetail(str(self), _kind(self.status), self.param, self.code)))


def _kind(status: int) -> str:
    if status >= 500:
        return "server_error"
    return "rate_limit_error" if status == 429 else "invalid_request_error"


def invalid(message: str, param: str | None = None, code: str = "invalid_value") -> Refusal:
    """Status 400: the request itself makes no sense."""
    return Refusal(400, message, code, param=param)


def json_answer(value: object, headers: Mapping[str, str] | None = None) -> Response:
    """A msgspec Struct, or plain values, as JSON."""
    return Response(msgspec.json.encode(value), headers=headers, media_type=_JSON)


def refused(refusal: Refusal) -> Response:
    """A Refusal as a response."""
    kind = _LastAnswer if "Connection" in refusal.headers else Response
    return kind(refusal.body(), refusal.status, refusal.headers, _JSON)


class _LastAnswer(Response):
    """An answer to a request whose body was not read to its end, after which the connection is closed.

    Were it closed at once, a client that is still sending would see a broken connection instead of the answer. So what
    it sends is taken and forgotten for a moment.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        await send(start)
        await send({"type": "http.response.body", "body": self.body, "more_body": True})
        with suppress(TimeoutError):
            async with asyncio.timeout(_LINGER_SECONDS):
                while (message := await receive())["type"] == "http.request" and message.get("more_body"):
                    pass
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def answer_error(request: Request, error: Exception) -> Response:
    """The response to anything that a route raises."""
    return refused(as_refusal(request, error))


def as_refusal(request: Request, error: Exception) -> Refusal:
    """Any error as a Refusal: what the library refuses is the request's fault, except that memory is the machine's, and
    the models' files are the server's."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, HTTPException):
        return _of_routing(request, error)
    if is_out_of_memory(error):
        return Refusal(503, _NO_MEMORY, "out_of_memory", headers={"Retry-After": "5"})
    if isinstance(error, WeightFileError):
        return Refusal(503, str(error), "model_files")
    if isinstance(error, ElmoError):
        return Refusal(400, str(error), "invalid_value")
    return Refusal(
        500,
        f"{type(error).__name__}: the server did not expect this, so it is a bug. Its log has the details; please "
        "report them.",
        "internal_error",
    )


def _of_routing(request: Request, error: HTTPException) -> Refusal:
    path = request.scope["path"][:100]
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "another method")
        message = f"{path} does not take {request.method[:20]}. Use {allowed}; /openapi.json lists all paths."
        return Refusal(405, message, "method_not_allowed", headers=error.headers)
    message = f"there is no {path!r} on this server. /openapi.json lists all paths."
    return Refusal(error.status_code, message, "not_found", headers=error.headers)
