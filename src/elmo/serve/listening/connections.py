"""Connections that are not waited for without end.

uvicorn gives a client any time for the headers of a request and for the reading of an answer, so that a thousand
clients which send or take a byte now and then would hold a thousand connections. Here a connection that waits for the
headers of its request is closed after a few seconds; so is one whose client stops reading; and when there are too many
connections, the one that has waited longest makes room.
"""

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from elmo.serve.refusals import invalid

HEADER_SECONDS = 5.0
"""From the beginning of a connection, or the end of an answer, to the end of the headers of the next request."""
READING_SECONDS = 20.0
"""In which a client must take some of an answer that waits for it."""
MAX_CONNECTIONS = 512


class ImpatientProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 with these limits. Each server has its own subclass, of `impatient_protocol`."""

    header_seconds: float
    reading_seconds: float
    max_connections: int
    waiting: "dict[ImpatientProtocol, asyncio.TimerHandle]"
    """The connections that wait for headers, those that wait longest first, with their timers."""
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._wait_for_headers()
        if len(self.connections) > self.max_connections:
            next(iter(self.waiting))._give_up()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._stop_waiting_if_answering()

    def on_response_complete(self) -> None:
        self._wait_for_headers()
        super().on_response_complete()
        self._stop_waiting_if_answering()  # the next request may have been here already

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._stop_watching()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_reading()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_watching()

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP; as JSON, like every other refusal."""
        body = invalid(f"{msg.rstrip('.')}: it is not valid HTTP/1.1. Use an HTTP library.", code="invalid_http").body()
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body))), ("Connection", "close")]
        for event in (h11.Response(status_code=400, headers=headers), h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _wait_for_headers(self) -> None:
        self._stop_waiting()
        self.waiting[self] = self.loop.call_later(self.header_seconds, self._give_up)

    def _stop_waiting_if_answering(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()

    def _give_up(self) -> None:
        self._stop_waiting()
        self.transport.close()

    def _stop_waiting(self) -> None:
        if (timer := self.waiting.pop(self, None)) is not None:
            timer.cancel()

    def _watch_reading(self) -> None:
        unread = self.transport.get_write_buffer_size()
        self._unread = self.loop.call_later(self.reading_seconds, self._check_reading, unread)

    def _check_reading(self, unread: int) -> None:
        if self.transport.get_write_buffer_size() < unread:
            self._watch_reading()
        else:
            self.transport.abort()

    def _stop_watching(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None


def impatient_protocol(
    header_seconds: float = HEADER_SECONDS,
    reading_seconds: float = READING_SECONDS,
    max_connections: int = MAX_CONNECTIONS,
) -> type[ImpatientProtocol]:
    """The protocol of one server, for uvicorn's setting `http`."""
    limits = {"header_seconds": header_seconds, "reading_seconds": reading_seconds, "max_connections": max_connections}
    return type("ServersProtocol", (ImpatientProtocol,), {**limits, "waiting": {}})
