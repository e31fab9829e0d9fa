"""Answers: msgspec values and errors as responses."""

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from elmo.errors import ElmoError, OutOfMemory
from elmo.serve.refusals import Refusal

_JSON = "application/json"


def json_answer(value: object, status: int = 200) -> Response:
    """A msgspec Struct, or plain values, as JSON."""
    return Response(msgspec.json.encode(value), status, media_type=_JSON)


def refused(refusal: Refusal) -> Response:
    """A Refusal as a response."""
    return Response(refusal.body(), refusal.status, refusal.headers, _JSON)


def answer_error(request: Request, error: Exception) -> Response:
    """The response to anything that a route raises."""
    return refused(as_refusal(request, error))


def as_refusal(request: Request, error: Exception) -> Refusal:
    """Any error as a Refusal: what the library refuses is the request's fault, except that memory is the machine's."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, HTTPException):
        return _of_routing(request, error)
    if isinstance(error, OutOfMemory):
        return Refusal(503, str(error), "out_of_memory", headers={"Retry-After": "5"})
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
