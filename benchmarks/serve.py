"""What HTTP costs: CPU time of `elmo serve` per request, beside the bare batch; equality under load; memory.

    python benchmarks/serve.py                  CPU per request at 1, 4, 16, 64 clients; 10,000 compared requests
    python benchmarks/serve.py --minutes 60     and an hour at half of the load that 64 clients bring about

The server is a process of its own with one compute thread of one core; clients are tasks of this process, which send
the next request when they have the answer to the one before, and take vectors as base64. Figures are the server's CPU
time (user and system, of all its threads), which other work on the machine changes little; the bare batch is
`Embedder.embed` in this process with as many sentences in a call as there are clients. Both have seen every word
before. Both are measured in turn in every round; figures are medians over the rounds.
"""

import asyncio
import base64
import itertools
import json
import lzma
import os
import re
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from record import ROOT, Record, Table, parser

from elmo.embed.embedder import Embedder

TEXT = ROOT.parent / "shared" / "data" / "lm-en" / "test.txt.xz"
_TOKENS = 20
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def main() -> int:
    """Measures and writes the record; the exit code."""
    arguments = parser(__doc__)
    arguments.add_argument("--model", default="small-en")
    arguments.add_argument("--dtype", default="float32")
    arguments.add_argument("--text", type=Path, default=TEXT, help="tokenized sentences, one a line, .xz or plain")
    arguments.add_argument("--sentences", type=int, default=2000, help=f"different ones, of {_TOKENS} tokens each")
    arguments.add_argument("--clients", type=int, nargs="+", default=[1, 4, 16, 64])
    arguments.add_argument("--requests", type=int, default=2000, help="of each number of clients in a round")
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--compared", type=int, default=10_000, help="requests of 8 threads, compared bit for bit")
    arguments.add_argument("--minutes", type=float, default=0.0, help="at half load, with memory watched")
    given = arguments.parse_args()
    torch.set_num_threads(1)
    sentences = _sentences(given.text, given.sentences)
    embedder = Embedder.from_pretrained(given.model, dtype=given.dtype)
    expected = embedder.embed(sentences, "average", pool="mean")
    with _served(given.model, given.dtype) as server:
        _load(server, sentences, 64, len(sentences))  # every word is seen once
        costs = _costs(server, embedder, sentences, given.clients, given.requests, given.rounds)
        different = _different(server, sentences, expected, given.compared)
        soak = _soak(server, sentences, costs[-1].per_second / 2, given.minutes * 60) if given.minutes else None
    sentence = _sentence(costs, given.compared, different, soak)
    Record("serve", "CPU time of a request", _tables(costs, soak), sentence).write(given.results)
    return 0


@dataclass(frozen=True)
class Server:
    """A running `elmo serve`."""

    process: int
    port: int

    def cpu_seconds(self) -> float:
        """User and system time of all its threads so far."""
        fields = Path(f"/proc/{self.process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def resident_bytes(self) -> int:
        """Memory it holds."""
        return int(Path(f"/proc/{self.process}/statm").read_text(encoding="utf-8").split()[1]) * _PAGE


@dataclass(frozen=True)
class Cost:
    """At one number of clients, in medians over the rounds."""

    clients: int
    bare: float
    """CPU seconds of a sentence in a bare batch."""
    served: float
    """CPU seconds of the server for a request."""
    per_second: float
    """Requests answered."""
    p95: float
    """Seconds that a request took; 95 % took less."""


@dataclass(frozen=True)
class Soak:
    """Memory under half load."""

    seconds: float
    requests: int
    resident: list[int]
    """Bytes, each minute or ten times in all."""


@contextmanager
def _served(model: str, dtype: str) -> Iterator[Server]:
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


def _sentences(path: Path, count: int) -> list[list[str]]:
    """As many different stretches of text, all of the same length, so that batches differ in size alone."""
    with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8") as file:
        words = list(itertools.islice((word for line in file for word in line.split()), count * _TOKENS))
    return [words[start : start + _TOKENS] for start in range(0, len(words), _TOKENS)]


def _request(sentence: Sequence[str]) -> bytes:
    body = json.dumps({"input": [sentence], "encoding_format": "base64"}).encode()
    head = "POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def _answer(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200 "):
        raise SystemExit(f"a request was not answered: {head!r}")
    found = re.search(rb"content-length: (\d+)", head)
    assert found is not None
    return await reader.readexactly(int(found[1]))


def _vector(body: bytes) -> np.ndarray:
    return np.frombuffer(base64.b64decode(json.loads(body)["data"][0]["embedding"]), "<f4")


def _load(server: Server, sentences: Sequence[Sequence[str]], clients: int, requests: int) -> list[float]:
    """Sends them by that many clients; the seconds that each took."""
    payloads = [_request(sentence) for sentence in sentences]
    numbers, seconds = iter(range(requests)), []

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        for number in numbers:
            began = time.perf_counter()
            writer.write(payloads[number % len(payloads)])
            await _answer(reader)
            seconds.append(time.perf_counter() - began)
        writer.close()

    async def all_clients() -> None:
        await asyncio.gather(*(client() for _ in range(clients)))

    asyncio.run(all_clients())
    return seconds


def _costs(
    server: Server, embedder: Embedder, sentences: list[list[str]], clients: Sequence[int], requests: int, rounds: int
) -> list[Cost]:
    found: dict[int, list[tuple[float, float, float, float]]] = {count: [] for count in clients}
    for _ in range(rounds):
        for count in clients:
            bare = _bare(embedder, sentences, count, requests)
            began, cpu = time.perf_counter(), server.cpu_seconds()
            seconds = _load(server, sentences, count, requests)
            served, elapsed = server.cpu_seconds() - cpu, time.perf_counter() - began
            p95 = statistics.quantiles(seconds, n=20)[-1]
            found[count].append((bare, served / requests, requests / elapsed, p95))
    return [Cost(count, *map(statistics.median, zip(*rows, strict=True))) for count, rows in found.items()]


def _bare(embedder: Embedder, sentences: list[list[str]], size: int, count: int) -> float:
    """CPU seconds of a sentence in calls of `size`."""
    cycle = itertools.cycle(sentences)
    calls = max(1, count // size)
    began = time.process_time()
    for _ in range(calls):
        embedder.embed(list(itertools.islice(cycle, size)), "average", pool="mean")
    return (time.process_time() - began) / (calls * size)


def _different(
    server: Server, sentences: list[list[str]], expected: np.ndarray, requests: int, threads: int = 8
) -> int:
    """Of so many requests by several threads, how many did not get the very bits of one thread's one call."""
    payloads = [_request(sentence) for sentence in sentences]
    found: list[int] = []

    def client(first: int) -> None:
        async def run() -> None:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            for number in range(first, requests, threads):
                writer.write(payloads[number % len(payloads)])
                vector = _vector(await _answer(reader))
                found.append(not np.array_equal(vector, expected[number % len(payloads)]))
            writer.close()

        asyncio.run(run())

    started = [threading.Thread(target=client, args=(first,)) for first in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    if len(found) != requests:
        raise SystemExit(f"only {len(found):,} of {requests:,} requests were answered")
    return sum(found)


def _soak(server: Server, sentences: list[list[str]], per_second: float, seconds: float) -> Soak:
    """Requests at an even rate, by 16 clients; the first tenth of the time is not counted."""
    payloads, sent, resident = [_request(sentence) for sentence in sentences], 0, []
    began = time.perf_counter()
    every = min(60.0, seconds / 10)

    async def client(first: int) -> None:
        nonlocal sent
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        for number in itertools.count(first, 16):
            due = began + number / per_second
            if due > began + seconds:
                break
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            writer.write(payloads[number % len(payloads)])
            await _answer(reader)
            sent += 1
        writer.close()

    async def watch() -> None:
        await asyncio.sleep(seconds / 10)
        while time.perf_counter() < began + seconds:
            resident.append(server.resident_bytes())
            await asyncio.sleep(every)
        resident.append(server.resident_bytes())

    async def everything() -> None:
        await asyncio.gather(watch(), *map(client, range(16)))

    asyncio.run(everything())
    return Soak(seconds, sent, resident)


def _tables(costs: Sequence[Cost], soak: Soak | None) -> list[Table]:
    rows = [
        (
            cost.clients,
            f"{1e3 * cost.bare:.2f}",
            f"{1e3 * cost.served:.2f}",
            f"{cost.served / cost.bare:.2f}",
            f"{cost.per_second:,.0f}",
            f"{1e3 * cost.p95:.1f}",
        )
        for cost in costs
    ]
    columns = ["clients", "bare batch, CPU ms", "server, CPU ms a request", "ratio", "requests per second", "p95, ms"]
    tables = [Table(columns, rows, f"Sentences of {_TOKENS} tokens")]
    if soak is not None:
        cells = [(f"{place + 1}", f"{size / 2**20:.1f}") for place, size in enumerate(soak.resident)]
        tables.append(Table(["reading", "resident memory, MiB"], cells, "Half load"))
    return tables


def _sentence(costs: Sequence[Cost], compared: int, different: int, soak: Soak | None) -> str:
    most = costs[-1]
    parts = [
        f"At {most.clients} clients a request costs {most.served / most.bare:.2f} times the CPU time of a sentence in "
        f"a bare batch of that size (target: at most 1.5). Of {compared:,} requests by 8 threads, {different} got "
        "other bits than one thread's single call."
    ]
    if soak is not None:
        growth = soak.resident[-1] / soak.resident[0] - 1
        parts.append(
            f"In {soak.seconds / 60:.1f} minutes at half load ({soak.requests:,} requests) resident memory changed by "
            f"{growth:+.1%} (target: at most 2 % in an hour)."
        )
    return " ".join(parts)


if __name__ == "__main__":
    raise SystemExit(main())
