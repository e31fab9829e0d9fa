"""A small model behind the app, in the test's own process or behind a real socket."""

import dataclasses
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from elmo.embed.embedder import Embedder
from elmo.lm.language_model import EngineLanguageModel
from elmo.lm.substitutes import substitutes
from elmo.serve.app import create_app
from elmo.serve.listening import Server, bound, url
from elmo.serve.models import PredictSubstitutes, ServedModel
from elmo.serve.settings import ServeSettings

WORDS = ["<S>", "</S>", "<UNK>", "the", "cat", "sat", "on", "mat", "."]


@pytest.fixture
def embedder(tiny_checkpoint) -> Embedder:
    return Embedder(tiny_checkpoint)


@pytest.fixture
def predict(tiny_checkpoint, tiny_config) -> PredictSubstitutes:
    """What the library says would stand in a place."""

    def predict(sentence, place, count):
        chance = np.random.default_rng(2)
        shapes = {"weight": (len(WORDS), tiny_config.projection_size), "bias": (len(WORDS),)}
        softmax = {name: chance.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
        whole = dataclasses.replace(tiny_checkpoint, vocabulary=WORDS, softmax=softmax)
        return substitutes(EngineLanguageModel(whole), sentence, place, count)

    return predict


@pytest.fixture
def models(embedder, tiny_checkpoint, predict) -> list[ServedModel]:
    """The first knows substitutes, the second doesn't."""
    return [ServedModel("tiny", embedder, predict), ServedModel("mute", Embedder(tiny_checkpoint))]


MakeClient = Callable[..., TestClient]


@pytest.fixture
def new_client(models) -> Iterator[MakeClient]:
    """A client of an app with other settings."""
    opened = []

    def make(**settings) -> TestClient:
        app = create_app(models, ServeSettings(**{"hosts": ["testserver"]} | settings))
        opened.append(TestClient(app, raise_server_exceptions=False))
        return opened[-1].__enter__()

    yield make
    for client in opened:
        client.__exit__(None, None, None)


@pytest.fixture
def client(new_client) -> TestClient:
    return new_client()


@pytest.fixture
def hold(embedder, monkeypatch) -> Callable[[], tuple[threading.Event, threading.Event]]:
    """`began, go_on = hold()`: embedding sets the first from now on, and lasts until the second is set."""

    def hold() -> tuple[threading.Event, threading.Event]:
        whole, began, go_on = embedder.embed, threading.Event(), threading.Event()

        def held(sentences, layers="all"):
            began.set()
            assert go_on.wait(30)
            return whole(sentences, layers)

        monkeypatch.setattr(embedder, "embed", held)
        return began, go_on

    return hold


@dataclass
class Live:
    """A running server, whose models are warm."""

    app: Starlette
    address: tuple[str, int]
    url: str
    server: Server
    thread: threading.Thread

    def connected(self) -> socket.socket:
        """A socket to it, which gives up after 20 seconds."""
        return socket.create_connection(self.address, timeout=20)

    def sent(self, request: bytes) -> bytes:
        """The answer to some bytes, until the server closes the connection."""
        with self.connected() as connection:
            connection.sendall(request)
            return self.received(connection)

    @staticmethod
    def received(connection: socket.socket) -> bytes:
        """All until the server closes the connection; a broken one ends it too."""
        chunks = []
        with suppress(ConnectionError):
            while chunk := connection.recv(65_536):
                chunks.append(chunk)
        return b"".join(chunks)


@contextmanager
def running(
    models: list[ServedModel], settings: ServeSettings | None = None, routes: Sequence[Route] = ()
) -> Iterator[Live]:
    """A server in a thread; when the block is left, it has ended."""
    app, started = create_app(models, settings, extra_routes=routes), threading.Event()
    with bound("127.0.0.1", 0) as listening:
        made = Server(app, listening, started=started.set)
        thread = threading.Thread(target=made.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            assert started.wait(20)
            while not app.state.service.is_warm:  # what is computed for that waits in the queue, too
                time.sleep(0.005)
            yield Live(app, listening.getsockname(), url(listening), made, thread)
        finally:
            made.should_exit = True
            thread.join(30)
            assert not thread.is_alive()


@pytest.fixture
def live(models) -> Iterator[Live]:
    with running(models) as live:
        yield live
