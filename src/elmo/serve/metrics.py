"""Counts and times of a server in Prometheus' text format; they never contain text of a request."""

import time
from collections.abc import Iterator, Sequence

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.process_collector import ProcessCollector
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from elmo.serve.batcher import Batcher

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_OTHER_PATH = "other"
_SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)


class Metrics:
    """The counts and times of one app."""

    def __init__(self, batcher: Batcher, routes: Sequence[Route]) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "elmo_requests", "Requests answered, by path and status", ["path", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "elmo_request_seconds",
            "From the arrival of a request to the end of its answer, by path",
            ["path"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._routes = routes
        self._registry.register(_BatcherCounts(batcher))
        ProcessCollector(registry=self._registry)

    def text(self) -> bytes:
        """All of it, in Prometheus' text format."""
        return generate_latest(self._registry)

    def observe(self, path: str, status: int, seconds: float) -> None:
        """A request was answered. Paths that are not ours count as one: clients could make up any number of them."""
        known = next((route.path for route in self._routes if route.path_regex.match(path)), _OTHER_PATH)
        self._requests.labels(known, str(status)).inc()
        self._seconds.labels(known).observe(seconds)


class Metered:
    """ASGI middleware: observes every request. It is outside of access control, so that refused requests count too."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, sending)
        finally:
            self._metrics.observe(scope["path"], status, time.perf_counter() - started)


class _BatcherCounts:
    """A collector: reads the batcher's counts when it is asked."""

    def __init__(self, batcher: Batcher) -> None:
        self._batcher = batcher

    def collect(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily]:
        counts = self._batcher.counts
        yield CounterMetricFamily("elmo_batches", "Batches computed", value=counts.batches)
        yield CounterMetricFamily("elmo_tokens", "Tokens computed", value=counts.tokens)
        yield CounterMetricFamily(
            "elmo_dropped",
            "Parts of requests dropped: the client had gone, or the deadline passed",
            value=counts.dropped,
        )
        queued = self._batcher.queued_tokens
        yield GaugeMetricFamily("elmo_queued_tokens", "Tokens that wait or are being computed", value=queued)
