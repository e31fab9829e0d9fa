"""The process that serves an app: where it listens, who can reach it there, its signals and its end."""

import signal
import socket
from collections.abc import Callable
from ipaddress import ip_address
from typing import Annotated

import uvicorn
from starlette.applications import Starlette

from elmo.errors import ConfigError
from elmo.process.stop_flag import handled
from elmo.serve.settings import ServeSettings
from elmo.setting_checks import from_to, require_value

GRACE_SECONDS = 20
"""After SIGTERM or Ctrl-C, the requests being answered have this long to finish."""
MAX_CONNECTIONS = 512
"""Requests on further connections get status 503."""
_KEEP_ALIVE_SECONDS = 5
_BACKLOG = 512


def bound(host: str, port: int) -> socket.socket:
    """A listening socket; port 0: any free one. Raises ConfigError if the address can't be used."""
    require_value("port", port, Annotated[int, from_to(0, (1 << 16) - 1)])
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        takes_both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()  # as :: means everywhere but on Windows
        return socket.create_server(address, family=family, backlog=_BACKLOG, dualstack_ipv6=takes_both)
    except (OSError, UnicodeError) as error:
        raise ConfigError(
            f"can't listen on {host} port {port}: {getattr(error, 'strerror', None) or error}. Choose another port "
            "with --port (0 takes any free one), or an address of this machine with --host."
        ) from None


def url(listening: socket.socket) -> str:
    """The address to open in a browser."""
    address, port = listening.getsockname()[:2]
    return f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"


def is_loopback(listening: socket.socket) -> bool:
    """Whether only this machine can reach it."""
    return ip_address(listening.getsockname()[0].partition("%")[0]).is_loopback


def require_key(listening: socket.socket, settings: ServeSettings) -> None:
    """Raises ConfigError if other machines can reach the server, and need no key for it."""
    if not settings.api_keys and not is_loopback(listening):
        raise ConfigError(
            f"other machines can reach {listening.getsockname()[0]}, but no API key is set. Pass --api-key-file, or "
            "listen on --host 127.0.0.1."
        )


def run(app: Starlette, listening: socket.socket, *, started: Callable[[], None] = lambda: None) -> None:
    """Serves `app` (of `create_app`) on a socket of `bound`, until SIGTERM or Ctrl-C, then finishes what it has begun.

    `started`: called when connections are accepted. A second Ctrl-C ends it at once. Raises ConfigError for an address
    that other machines can reach if no key is set.
    """
    made = Server(app, listening, started)
    # uvicorn raises the signal that ended it once more for the handler that was there before; with this one, the
    # process ends with code 0.
    with handled(dict.fromkeys((signal.SIGTERM, signal.SIGINT), made.handle_exit)):
        made.run(sockets=[listening])


class Server(uvicorn.Server):
    """uvicorn's server with our settings; /ready reports when it is stopping. Setting `should_exit` ends it."""

    def __init__(self, app: Starlette, listening: socket.socket, started: Callable[[], None] = lambda: None) -> None:
        require_key(listening, app.state.service.settings)
        super().__init__(
            uvicorn.Config(
                app,
                http="h11",
                ws="none",
                loop="asyncio",
                lifespan="on",
                log_level="error",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                limit_concurrency=MAX_CONNECTIONS,
                timeout_keep_alive=_KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=GRACE_SECONDS,
            )
        )
        self._service = app.state.service
        self._on_started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._service.is_stopping = True
        await super().shutdown(sockets)
        if self.force_exit:  # or the app would be cut off, with a traceback
            await self.lifespan.shutdown()
