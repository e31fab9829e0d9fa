"""A server of this machine that misbehaves as told, and a published model that lies on it."""

import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from elmo.weights.allennlp.write import write
from elmo.weights.catalogue import KnownModel, known_models
from elmo.weights.published import sources, transfer


@dataclass
class Publisher:
    """What the server has, how it answers, and what it was asked."""

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    """Consumed one a request; see `_Handler.do_GET`."""
    asked: list[str] = field(default_factory=list)
    """The path of each request."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    publisher: Publisher

    def log_message(self, *_):
        pass

    def do_GET(self):
        publisher = self.publisher
        publisher.asked.append(self.path)
        fault = publisher.faults.pop(0) if publisher.faults else ""
        content = publisher.files.get(self.path)
        if fault.startswith("status "):
            return self._answer(int(fault.split()[1]), b"")
        if fault.startswith("redirect "):
            return self._answer(302, b"", {"Location": fault.split()[1]})
        if fault == "hang":
            time.sleep(1)
            return None
        if fault == "login":
            return self._answer(200, b"<html>please log in</html>" + b" " * 200_000)
        if content is None:
            return self._answer(404, b"")
        headers = {}
        if fault.startswith("no length"):
            headers["Connection"] = "close"
        end = int(fault.split()[-1]) if fault.startswith(("cut ", "no length ")) else len(content)
        return self._answer(200, content, headers, end=end, length=not fault.startswith("no length"))

    def _answer(self, status, body, headers=None, *, end=None, length=True):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if length:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if end is None else body[:end])
        self.wfile.flush()
        if not length or (end is not None and end < len(body)):
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def publisher() -> Iterator[Publisher]:
    """The server, for one test."""
    state = Publisher()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"publisher": state}))
    server.daemon_threads = True
    state.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield state
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A cache of the test's own, no waiting between attempts, no proxy and no mirror of the environment."""
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv(sources.MIRRORS_VARIABLE, raising=False)
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(transfer, "_PAUSE", 0.0)


@pytest.fixture
def model_files(tmp_path: Path, random_checkpoint) -> dict[str, bytes]:
    """A small model as AllenNLP's two files, without the fingerprint of ours."""
    write(random_checkpoint(), tmp_path / "made")
    content = {path.name: path.read_bytes() for path in (tmp_path / "made").iterdir() if path.suffix != ".txt"}
    content["weights.hdf5"] = content["weights.hdf5"].replace(b"elmo_sha256", b"some_sha256")
    return {name: content[name] for name in ("options.json", "weights.hdf5")}


@pytest.fixture
def tiny(publisher: Publisher, model_files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a published model whose publisher is the server; families have their archives there, too."""
    publisher.files |= {f"/models/tiny/{name}": content for name, content in model_files.items()}
    facts = {"languages": ("English",), "format": "allennlp", "data": "", "license": "", "paper": ""}
    roots, zips = (f"{publisher.address}/models/tiny/",), (f"{publisher.address}/zips/",)
    tiny = KnownModel("tiny", files=tuple(model_files), addresses=roots, **facts)
    family = KnownModel("many-langs", files=(), addresses=zips, archives={"ko": 161}, **facts)
    models = known_models() | {"tiny": tiny, "many-langs": family}
    monkeypatch.setattr(sources, "known_models", lambda: models)
    return "tiny"
