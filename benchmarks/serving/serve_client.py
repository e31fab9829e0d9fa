"""A running `elmo serve` and bare connections to it, for the benchmarks of the server."""

import asyncio
import itertools
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sentences import first_sentences

TOKENS = 20
"""Of each sentence, so that batches differ in size alone."""
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Server:
    """A running `elmo serve`."""

    process: int
    port: int

    def cpu_seconds(self) -> float:
        """User and system time of all its threads so far."""
        fields = self._file("stat").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def resident_bytes(self) -> int:
        """Memory it holds."""
        return int(self._file("statm").split()[1]) * _PAGE

    def descriptors(self) -> int:
        """Open files and sockets."""
        return sum(1 for _ in Path(f"/proc/{self.process}/fd").iterdir())

    def threads(self) -> int:
        """Threads it has."""
        return sum(1 for _ in Path(f"/proc/{self.process}/task").iterdir())

    def _file(self, name: str) -> str:
        return Path(f"/proc/{self.process}/{name}").read_text(encoding="utf-8")


@contextmanager
def served(model: str, dtype: str = "float32") -> Iterator[Server]:
    """A server in a process of its own, with one thread for operations."""
    code = "import sys; from elmo.cli.main import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "serve", model, "--port", "0", "--dtype", dtype]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        found = re.search(r":(\d+)$", line)
        if found is None:
            raise SystemExit(f"the server did not start: {line}{process.stderr.read()}")
        yield Server(process.pid, int(found[1]))
    finally:
        process.terminate()
        process.wait(60)


def stretches(path: Path, count: int) -> list[list[str]]:
    """As many different stretches of a text, each of `TOKENS` tokens."""
    words = list(itertools.chain.from_iterable(first_sentences(path, count * TOKENS)))[: count * TOKENS]
    return [words[start : start + TOKENS] for start in range(0, len(words), TOKENS)]


def request(fields: dict[str, object], path: str = "/v1/embeddings") -> bytes:
    """A POST as it goes over the wire."""
    body = json.dumps(fields).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def vector_request(sentence: Sequence[str]) -> bytes:
    """Asks for the mean vector of one sentence."""
    return request({"input": [sentence], "encoding_format": "base64"})


class Connection:
    """One connection that stays open, with one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def to(cls, server: Server) -> "Connection":
        """A new one."""
        return cls(*await asyncio.open_connection("127.0.0.1", server.port))

    async def ask(self, payload: bytes) -> tuple[int, bytes]:
        """Status and body of the answer."""
        self._writer.write(payload)
        head = await self._reader.readuntil(b"\r\n\r\n")
        found = re.search(rb"content-length: (\d+)", head)
        assert found is not None, head
        return int(head.split(b" ", 2)[1]), await self._reader.readexactly(int(found[1]))

    async def vectors(self, payload: bytes) -> bytes:
        """The body of an answer that must have status 200."""
        status, body = await self.ask(payload)
        if status != 200:
            raise SystemExit(f"a request was answered with status {status}: {body[:300]!r}")
        return body

    def send_and_leave(self, payload: bytes) -> None:
        """As a client does that doesn't wait for its answer."""
        self._writer.write(payload)
        self._writer.close()

    def close(self) -> None:
        """Ends it."""
        self._writer.close()


def load(server: Server, payloads: Sequence[bytes], clients: int, requests: int) -> list[float]:
    """Sends them, again and again, by that many clients at once; the seconds that each request took."""
    numbers, seconds = iter(range(requests)), []

    async def client() -> None:
        connection = await Connection.to(server)
        for number in numbers:
            began = time.perf_counter()
            await connection.vectors(payloads[number % len(payloads)])
            seconds.append(time.perf_counter() - began)
        connection.close()

    async def all_clients() -> None:
        await asyncio.gather(*(client() for _ in range(clients)))

    asyncio.run(all_clients())
    return seconds
