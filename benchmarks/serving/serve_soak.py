"""An hour at half load: does `elmo serve` grow, slow down, or answer with a status of 5xx?

    python benchmarks/serving/serve_soak.py --minutes 60

Half load is half of the requests per second that 64 clients get beforehand. 16 clients send at an even rate: of 100
requests 84 are for the vector of a sentence, 12 for vectors per token, 2 for substitutes, 1 is a bad request, and 1
comes on a connection of its own that is closed before the answer. Readings begin after a tenth of the time, when every
word has been seen, and must not grow from then on.
"""

import asyncio
import itertools
import statistics
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

from record import Record, Table, parser
from sentences import TEXT
from serve_client import Connection, Server, load, request, served, stretches, vector_request

CLIENTS = 16


def main() -> int:
    """Measures and writes the record; exit code 1 if an answer had a status of 5xx."""
    arguments = parser(__doc__)
    arguments.add_argument("--model", default="small-en")
    arguments.add_argument("--dtype", default="float32")
    arguments.add_argument("--text", type=Path, default=TEXT, help="tokenized sentences, one a line, .xz or plain")
    arguments.add_argument("--sentences", type=int, default=2000, help="different ones")
    arguments.add_argument("--minutes", type=float, default=60.0)
    arguments.add_argument("--readings", type=int, default=20)
    given = arguments.parse_args()
    sentences = stretches(given.text, given.sentences)
    with served(given.model, given.dtype) as server:
        rate = _full_load(server, sentences) / 2
        soak = Soak(server, [_payload(number, sentences) for number in range(len(sentences))], rate)
        asyncio.run(soak.run(given.minutes * 60, given.readings))
    Record("serve-soak", "The server at half load", soak.tables(), soak.sentence()).write(given.results)
    return int(any(status >= 500 for status in soak.statuses))


@dataclass(frozen=True)
class Reading:
    """The server at one moment, and the requests since the reading before."""

    seconds: float
    resident: int
    descriptors: int
    threads: int
    cpu: float
    """CPU seconds of the server since the reading before."""
    latencies: Sequence[float]
    """Seconds that each request took."""


@dataclass
class Soak:
    """Requests at an even rate."""

    server: Server
    payloads: Sequence[bytes]
    rate: float
    """Requests per second."""
    statuses: Counter[int] = field(default_factory=Counter)
    left: int = 0
    """Requests whose client did not wait for the answer."""
    readings: list[Reading] = field(default_factory=list)
    _latencies: list[float] = field(default_factory=list)

    async def run(self, seconds: float, readings: int) -> None:
        """Sends and watches for so long."""
        began = time.perf_counter()
        clients = (self._client(first, began, seconds) for first in range(CLIENTS))
        await asyncio.gather(self._watch(began, seconds, readings), *clients)

    async def _client(self, first: int, began: float, seconds: float) -> None:
        connection = await Connection.to(self.server)
        for number in itertools.count(first, CLIENTS):
            due = began + number / self.rate
            if max(due, time.perf_counter()) > began + seconds:
                break
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            if number % 100 == 99:
                (await Connection.to(self.server)).send_and_leave(self.payloads[number % len(self.payloads)])
                self.left += 1
            else:
                await self._asked(connection, self.payloads[number % len(self.payloads)])
        connection.close()

    async def _asked(self, connection: Connection, payload: bytes) -> None:
        began = time.perf_counter()
        status, _ = await connection.ask(payload)
        self._latencies.append(time.perf_counter() - began)
        self.statuses[status] += 1

    async def _watch(self, began: float, seconds: float, readings: int) -> None:
        cpu = self.server.cpu_seconds()
        for number in range(readings + 1):
            due = began + seconds * (0.1 + 0.89 * number / readings)
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            now, latencies, self._latencies = self.server.cpu_seconds(), self._latencies, []
            facts = (self.server.resident_bytes(), self.server.descriptors(), self.server.threads())
            self.readings.append(Reading(time.perf_counter() - began, *facts, now - cpu, latencies))
            cpu = now

    def tables(self) -> list[Table]:
        """Every reading, and every status."""
        columns = ["minute", "resident memory, MiB", "descriptors", "threads", "requests", "CPU ms a request"]
        columns += ["median, ms", "p95, ms"]
        return [
            Table(columns, [_row(reading) for reading in self.readings], "Since the reading before"),
            Table(["status", "answers"], sorted(self.statuses.items()), "Answers"),
        ]

    def sentence(self) -> str:
        """What came out."""
        first, last = self.readings[0], self.readings[-1]
        failed = sum(count for status, count in self.statuses.items() if status >= 500)
        return (
            f"In {last.seconds / 60:.1f} minutes, {sum(self.statuses.values()):,} requests were answered, {failed} of "
            f"them with a status of 5xx (target: 0); {self.left:,} clients left before their answer. The rate was "
            f"{self.rate:.0f} per second, or less where the machine had no time for so many. From minute "
            f"{first.seconds / 60:.1f} on, resident memory changed by {last.resident / first.resident - 1:+.1%} "
            f"(target: at most 2 % in an hour), descriptors from {first.descriptors} to {last.descriptors}, threads "
            f"from {first.threads} to {last.threads}."
        )


def _full_load(server: Server, sentences: Sequence[Sequence[str]]) -> float:
    """Requests per second of 64 clients, when every word has been seen."""
    payloads = [vector_request(sentence) for sentence in sentences]
    load(server, payloads, 64, len(payloads))
    began = time.perf_counter()
    load(server, payloads, 64, len(payloads))
    return len(payloads) / (time.perf_counter() - began)


def _payload(number: int, sentences: Sequence[Sequence[str]]) -> bytes:
    sentence, kind = sentences[number], number % 100
    if kind < 2:
        return request({"input": sentence, "place": 3, "count": 5}, "/v1/substitutes")
    if kind < 14:
        return request({"input": [sentence], "encoding_format": "base64"}, "/v1/token_embeddings")
    if kind == 14:
        return request({"input": [sentence], "layers": 17})
    return vector_request(sentence)


def _row(reading: Reading) -> tuple[object, ...]:
    count = max(1, len(reading.latencies))
    p95 = statistics.quantiles(reading.latencies, n=20)[-1] if count > 1 else 0.0
    return (
        f"{reading.seconds / 60:.1f}",
        f"{reading.resident / 2**20:.1f}",
        reading.descriptors,
        reading.threads,
        f"{len(reading.latencies):,}",
        f"{1e3 * reading.cpu / count:.2f}",
        f"{1e3 * statistics.median(reading.latencies or [0.0]):.1f}",
        f"{1e3 * p95:.1f}",
    )


if __name__ == "__main__":
    raise SystemExit(main())
