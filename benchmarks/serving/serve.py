"""What HTTP costs: CPU time of `elmo serve` per request, beside the bare batch; equality under load.

    python benchmarks/serving/serve.py        CPU per request at 1, 4, 16, 64 clients; 10,000 compared requests

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
import statistics
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

import numpy as np
import torch
from record import Record, Table, parser
from sentences import TEXT
from serve_client import TOKENS, Connection, Server, load, served, stretches, vector_request

from elmo.embed.embedder import Embedder


def main() -> int:
    """Measures and writes the record; the exit code."""
    arguments = parser(__doc__)
    arguments.add_argument("--model", default="small-en")
    arguments.add_argument("--dtype", default="float32")
    arguments.add_argument("--text", type=Path, default=TEXT, help="tokenized sentences, one a line, .xz or plain")
    arguments.add_argument("--sentences", type=int, default=2000, help=f"different ones, of {TOKENS} tokens each")
    arguments.add_argument("--clients", type=int, nargs="+", default=[1, 4, 16, 64])
    arguments.add_argument("--requests", type=int, default=2000, help="of each number of clients in a round")
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--compared", type=int, default=10_000, help="requests of 8 threads, compared bit for bit")
    given = arguments.parse_args()
    torch.set_num_threads(1)
    sentences = stretches(given.text, given.sentences)
    embedder = Embedder.from_pretrained(given.model, dtype=given.dtype)
    expected = embedder.embed(sentences, "average", pool="mean")
    payloads = [vector_request(sentence) for sentence in sentences]
    with served(given.model, given.dtype) as server:
        load(server, payloads, 64, len(payloads))  # every word is seen once
        costs = _costs(server, embedder, sentences, given.clients, given.requests, given.rounds)
        different = _different(server, payloads, expected, given.compared)
    sentence = _sentence(costs, given.compared, different)
    Record("serve", "CPU time of a request", [_table(costs)], sentence).write(given.results)
    return 0


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


def _vector(body: bytes) -> np.ndarray:
    return np.frombuffer(base64.b64decode(json.loads(body)["data"][0]["embedding"]), "<f4")


def _costs(
    server: Server, embedder: Embedder, sentences: list[list[str]], clients: Sequence[int], requests: int, rounds: int
) -> list[Cost]:
    found: dict[int, list[tuple[float, float, float, float]]] = {count: [] for count in clients}
    payloads = [vector_request(sentence) for sentence in sentences]
    for _ in range(rounds):
        for count in clients:
            bare = _bare(embedder, sentences, count, requests)
            began, cpu = time.perf_counter(), server.cpu_seconds()
            seconds = load(server, payloads, count, requests)
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


def _different(server: Server, payloads: Sequence[bytes], expected: np.ndarray, requests: int, threads: int = 8) -> int:
    """Of so many requests by several threads, how many did not get the very bits of one thread's one call."""
    found: list[bool] = []

    def client(first: int) -> None:
        async def run() -> None:
            connection = await Connection.to(server)
            for number in range(first, requests, threads):
                vector = _vector(await connection.vectors(payloads[number % len(payloads)]))
                found.append(not np.array_equal(vector, expected[number % len(payloads)]))
            connection.close()

        asyncio.run(run())

    started = [threading.Thread(target=client, args=(first,)) for first in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    if len(found) != requests:
        raise SystemExit(f"only {len(found):,} of {requests:,} requests were answered")
    return sum(found)


def _table(costs: Sequence[Cost]) -> Table:
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
    return Table(columns, rows, f"Sentences of {TOKENS} tokens")


def _sentence(costs: Sequence[Cost], compared: int, different: int) -> str:
    most = costs[-1]
    return (
        f"At {most.clients} clients a request costs {most.served / most.bare:.2f} times the CPU time of a sentence in "
        f"a bare batch of that size (target: at most 1.5). Of {compared:,} requests by 8 threads, {different} got "
        "other bits than one thread's single call."
    )


if __name__ == "__main__":
    raise SystemExit(main())
