"""The process that serves an app: its socket, its signals, and its end."""

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_address

import uvicorn
from starlette.applications import Starlette

from elmo.errors import ConfigError
from elmo.serve.settings import ServeSettings

GRACE_SECONDS = 20
"""After SIGTERM or Ctrl-C, what is being answered has this long to finish."""
_KEEP_ALIVE_SECONDS = 5
_BACKLOG = 512


def run(app: Starlette, listening: socket.socket, *, started: Callable[[], None] = lambda: None) -> None:
    """Serves `app` (of `create_app`) on a socket of `bound`, until SIGTERM or Ctrl-C, then finishes what it has begun.

    `started`: called when connections are accepted. A second signal ends it at once. Raises ConfigError for an address
    that other machines can reach if no key is set.
    """
    _require_key(app.state.service.settings, listening.getsockname()[0])
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    Server(config, app, started).run(sockets=[listening])


class Server(uvicorn.Server):
    """uvicorn's server, whose process ends with code 0 after a signal and tells /ready that it stops."""

    def __init__(self, config: uvicorn.Config, app: Starlette, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._service = app.state.service
        self._tell_started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accepts connections."""
        await super().startup(sockets)
        if self.started:
            self._tell_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accepts no more, and finishes what was begun."""
        self._service.is_stopping = True
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """As uvicorn's own, which raises the signal again at the end, so that the process would not end with 0."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def bound(host: str, port: int) -> socket.socket:
    """A listening socket; port 0: any free one. Raises ConfigError if the address can't be used."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise ConfigError(_not_bound(host, port, error)) from None
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise ConfigError(_not_bound(host, port, error)) from None
    listening.set_inheritable(True)
    return listening


def _require_key(settings: ServeSettings, address: str) -> None:
    if not settings.api_keys and not ip_address(address).is_loopback:
        raise ConfigError(
            f"other machines can reach {address}, but no API key is set, so anybody could use this server. Pass "
            "--api-key-file, or listen on --host 127.0.0.1."
        )


def _not_bound(host: str, port: int, error: Exception) -> str:
    reason = getattr(error, "strerror", None) or str(error)
    return (
        f"can't listen on {host} port {port}: {reason}. Choose another with --port (0 takes any free one), or an "
        "address of this machine with --host."
    )
