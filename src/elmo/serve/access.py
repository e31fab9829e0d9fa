"""Access control: every request must pass it before any route sees it: its host, the page it comes from, its key."""

import hmac
from pathlib import Path

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from elmo.errors import ConfigError
from elmo.serve.answers import Refusal, refused
from elmo.serve.settings import ANY_HOST, ServeSettings

OPEN_PATHS = ("/health", "/ready")
"""Answered without a key: load balancers ask for them."""


class AccessControl:
    """ASGI middleware. It decides on the scope alone, never on a URL made from headers.

    The plain answers of Starlette's TrustedHostMiddleware name no flag.
    """

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self._app = app
        self._hosts = set(settings.hosts)
        self._keys = [key.encode() for key in settings.api_keys]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (refusal := self._refusal(scope)) is not None:
            await refused(refusal)(scope, receive, send)
        elif scope["type"] != "websocket":
            await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers = Headers(scope=scope)
        return (
            self._wrong_host(headers.getlist("host"))
            or _foreign_page(scope["method"], headers)
            or (None if scope["path"] in OPEN_PATHS else self._wrong_key(headers.getlist("authorization")))
        )

    def _wrong_host(self, values: list[str]) -> Refusal | None:
        host = _name(values[0]) if len(values) == 1 else None
        if host in self._hosts or (host is not None and ANY_HOST in self._hosts):
            return None
        shown = ", ".join(value[:100] for value in values) or "none"
        return Refusal(
            400,
            f"the request is addressed to the host {shown}, but this server answers to {', '.join(sorted(self._hosts))}"
            ". Use one of these names, or start the server with --allowed-hosts NAME.",
            "invalid_host",
        )

    def _wrong_key(self, values: list[str]) -> Refusal | None:
        if not self._keys:
            return None
        scheme, _, key = (values[0] if len(values) == 1 else "").encode("latin-1").partition(b" ")
        # All are compared, each in constant time, so that the time reveals nothing about them.
        matches = [hmac.compare_digest(key.strip(), own) for own in self._keys]
        if any(matches) and scheme.lower() == b"bearer":
            return None
        return Refusal(
            401,
            "this server needs an API key, and the request has none or a wrong one. Send the header 'Authorization: "
            "Bearer KEY' with a key of the server's --api-key-file.",
            "invalid_api_key",
            headers={"WWW-Authenticate": "Bearer"},
        )


def _foreign_page(method: str, headers: Headers) -> Refusal | None:
    """What a browser sends on behalf of another site's page; to follow a link from there is allowed."""
    if "cross-site" not in headers.getlist("sec-fetch-site"):
        return None
    if method == "GET" and headers.getlist("sec-fetch-mode") == ["navigate"]:
        return None
    return Refusal(
        403,
        "another web site's page sent this request (Sec-Fetch-Site: cross-site), which this server does not allow. "
        "Send it from a program, or from a page of this server.",
        "cross_site",
    )


def _name(host: str) -> str | None:
    """A Host header without its port, in small letters; None if it is malformed."""
    host = host.lower()
    name, colon, port = host.rpartition(":")
    if not colon or host.endswith("]"):
        return host or None
    return name if name and port.isdecimal() else None


def read_keys(path: Path) -> tuple[str, ...]:
    """The keys of a file, one per line; empty lines and lines that begin with # are skipped.

    Raises ConfigError for a file without keys.
    """
    lines = [line.strip() for line in path.read_text("utf-8", "replace").splitlines()]  # ServeSettings checks the keys
    keys = tuple(line for line in lines if line and not line.startswith("#"))
    if not keys:
        raise ConfigError(
            f"{path}: has no keys; it needs one per line. Make one with: python -c 'import secrets; "
            f"print(secrets.token_urlsafe(32))' > {path}"
        )
    return keys
