"""Refusal: a request that is not answered with what it asked for, and how it is told, in OpenAI's shape of errors."""

from collections.abc import Mapping

import msgspec


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
    """Raised wherever a request turns out not to be answerable.

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
        """The answer's body, JSON."""
        return msgspec.json.encode(ErrorBody(ErrorDetail(str(self), _kind(self.status), self.param, self.code)))


def _kind(status: int) -> str:
    if status >= 500:
        return "server_error"
    return "rate_limit_error" if status == 429 else "invalid_request_error"


def invalid(message: str, param: str | None = None, code: str = "invalid_value") -> Refusal:
    """Status 400: the request itself makes no sense."""
    return Refusal(400, message, code, param=param)
