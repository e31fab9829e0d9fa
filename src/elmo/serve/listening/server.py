"""The process that serves an app until it is asked to stop: its signals, and its end."""

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette

from elmo.serve.listening.address import require_key
from elmo.serve.listening.connections import ImpatientProtocol, impatient_protocol

GRACE_SECONDS = 20
"""After SIGTERM or Ctrl-C, what is being answered has this long to finish."""
_KEEP_ALIVE_SECONDS = 5


def run(app: Starlette, listening: socket.socket, *, started: Callable[[], None] = lambda: None) -> None:
    """Serves `app` (of `create_app`) on a socket of `bound`, until SIGTERM or Ctrl-C, then finishes what it has begun.

    `started`: called when connections are accepted. A second Ctrl-C ends it at once. Raises ConfigError for an address
    that other machines can reach if no key is set.
    """
    server(app, listening, started=started).run(sockets=[listening])


def server(
    app: Starlette,
    listening: socket.socket,
    *,
    started: Callable[[], None] = lambda: None,
    protocol: type[ImpatientProtocol] | None = None,
) -> "Server":
    """The server that `run` runs; in a thread of a test it ends when its `should_exit` is set."""
    require_key(listening, app.state.service.settings)
    config = uvicorn.Config(
        app,
        http=protocol or impatient_protocol(),
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    return Server(config, app, started)


class Server(uvicorn.Server):
    """uvicorn's server, whose process ends with code 0 after a signal, and whose /ready says that it stops."""

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
