"""One process that measures vectors per second on request, for engine_table.py: JSON lines in, JSON lines out.

    {"peak": 2}                                                              operations per second by dtype
    {"size": "small", "dtype": "int8", "first": 640, "batch": 64, "threads": 2}      words, seconds, CPU seconds, floor

It imports whichever `elmo` PYTHONPATH names, so that two checkouts can be measured in turn. The model of the last
request is kept. `batch` 0: all sentences in one call. `remembered`: seconds of reading the same again, every word being
known, of which the best time counts: that of the LSTMs alone.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

import speed
import torch
from sentences import TEXT, first_sentences

from elmo.embed.embedder import Embedder


class Worker:
    """The model and the peaks measured so far."""

    def __init__(self) -> None:
        self._model: tuple[str, str] | None = None
        self._embedder: Embedder | None = None
        self._peaks: dict[int, Any] = {}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """What was measured."""
        if "peak" in request:
            return dict(self.peak(request["peak"]))
        embedder = self.embedder(request["size"], request["dtype"])
        sentences, batch = first_sentences(TEXT, request["first"]), request["batch"]
        torch.set_num_threads(request["threads"])
        if "remembered" in request:
            return self.remembered(embedder, sentences, batch, request)
        embedder.embed(sentences[:1])  # lays the weights out
        embedder.forget_words()
        begun, begun_cpu = time.perf_counter(), time.process_time()
        size = batch or len(sentences)
        for start in range(0, len(sentences), size):
            embedder.embed(sentences[start : start + size])
        seconds, cpu = time.perf_counter() - begun, time.process_time() - begun_cpu
        floor = speed.floor(embedder.config, self.peak(request["threads"]), request["dtype"], sentences)
        words = speed.words_of(sentences)
        found = {"words": words, "seconds": seconds, "cpu": cpu, "floor": floor, "reading": None}
        if batch == 1:
            found["reading"] = speed.reading_floor(
                embedder.config, request["dtype"], words, len(sentences), request["threads"]
            )
        return found

    def remembered(
        self, embedder: Embedder, sentences: list[list[str]], batch: int, request: dict[str, Any]
    ) -> dict[str, Any]:
        """Tokens, boundaries among them, and the seconds of the best reading; operations a token."""
        calls = [sentences[start : start + batch] for start in range(0, len(sentences), batch)]
        times: list[float] = []
        while sum(times) < request["remembered"] or len(times) < 3:
            begun = time.perf_counter()
            for call in calls:
                embedder.embed(call)
            times.append(time.perf_counter() - begun)
        tokens = speed.words_of(sentences) + 2 * len(sentences)
        return {"tokens": tokens, "seconds": min(times), "operations": 2 * speed.lstm_multiplications(embedder.config)}

    def peak(self, threads: int) -> Any:
        """Measured once."""
        if threads not in self._peaks:
            self._peaks[threads] = speed.measured_peak(threads)
        return self._peaks[threads]

    def embedder(self, size: str, dtype: str) -> Embedder:
        """Of random weights that are always the same."""
        if self._model != (size, dtype) or self._embedder is None:
            self._embedder = None  # its memory first
            self._embedder = Embedder(speed.random_bilm(size).to_checkpoint(), dtype=dtype)
            self._model = size, dtype
        return self._embedder


def main() -> None:
    """Answers until the input ends."""
    worker = Worker()
    for line in sys.stdin:
        print(json.dumps(worker.answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
