"""Ordinary requests beside a thousand slow sockets: p95 with them must be at most twice that without.

    python benchmarks/serving/serve_slow_sockets.py

The slow sockets belong to another process. Every second each sends one byte: half of them of headers, half of a body,
none ever to its end; one that the server closes is opened again five seconds later. 8 clients send ordinary requests,
in turn with and without slow sockets, so that both see the same load of the machine.
"""

import asyncio
import multiprocessing
import statistics
import sys
import time
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

from elmo.serve.listening.connections import MAX_CONNECTIONS
from record import Record, Table, parser
from sentences import TEXT
from serve_client import load, served, stretches, vector_request

_HEADERS = b"POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\n"
_BEGINNINGS = (_HEADERS + b"X-Slow:", _HEADERS + b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n")


def main() -> int:
    """Measures and writes the record; exit code 1 if p95 more than doubled."""
    arguments = parser(__doc__)
    arguments.add_argument("--model", default="small-en")
    arguments.add_argument("--text", type=Path, default=TEXT, help="tokenized sentences, one a line, .xz or plain")
    arguments.add_argument("--sockets", type=int, default=1000, help="slow ones")
    arguments.add_argument("--clients", type=int, default=8)
    arguments.add_argument("--requests", type=int, default=400, help="of each kind in a round")
    arguments.add_argument("--rounds", type=int, default=7)
    given = arguments.parse_args()
    payloads = [vector_request(sentence) for sentence in stretches(given.text, 500)]
    rounds = []
    with served(given.model) as server:
        load(server, payloads, given.clients, len(payloads))  # every word is seen once
        for _ in range(given.rounds):
            alone = load(server, payloads, given.clients, given.requests)
            slow = multiprocessing.Process(target=_slow, args=(server.port, given.sockets), daemon=True)
            slow.start()
            while server.descriptors() < min(given.sockets, MAX_CONNECTIONS):
                time.sleep(0.1)
            time.sleep(2)
            connections = server.descriptors()
            beside = load(server, payloads, given.clients, given.requests)
            slow.kill()
            slow.join()
            time.sleep(1)
            rounds.append((alone, beside, connections))
    record, ratio = _record(rounds, given.sockets)
    record.write(given.results)
    return int(ratio > 2)


def _slow(port: int, count: int) -> None:
    async def one(number: int) -> None:
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(_BEGINNINGS[number % 2])
                while not writer.is_closing():
                    await asyncio.sleep(1)
                    writer.write(b" ")
                    await writer.drain()
            except OSError:
                pass
            await asyncio.sleep(5)

    async def all_of_them() -> None:
        await asyncio.gather(*map(one, range(count)))

    asyncio.run(all_of_them())


def _record(rounds: Sequence[tuple[list[float], list[float], int]], sockets: int) -> tuple[Record, float]:
    rows = [
        (number, *(f"{1e3 * value:.1f}" for seconds in one[:2] for value in _percentiles(seconds)), one[2])
        for number, one in enumerate(rounds, 1)
    ]
    alone, beside = ([*chain.from_iterable(one[place] for one in rounds)] for place in (0, 1))
    (_, before), (_, after) = _percentiles(alone), _percentiles(beside)
    columns = ["round", "alone: median, ms", "p95, ms", "beside slow ones: median, ms", "p95, ms", "descriptors"]
    sentence = (
        f"Beside {sockets:,} slow sockets p95 of {len(beside):,} ordinary requests is {1e3 * after:.0f} ms, without "
        f"them {1e3 * before:.0f} ms: {after / before:.2f} times (target: at most 2). All had status 200."
    )
    record = Record("serve-slow-sockets", "Requests beside slow sockets", [Table(columns, rows)], sentence)
    return record, after / before


def _percentiles(seconds: Sequence[float]) -> tuple[float, float]:
    """Median and p95."""
    return statistics.median(seconds), statistics.quantiles(seconds, n=20)[-1]


if __name__ == "__main__":
    raise SystemExit(main())
