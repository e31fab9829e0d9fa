"""Part makers: what embeds the windows of a text and writes them as parts: this process, or several others.

Whoever computes a window writes the same part. Each process loads the model and has its share of the cores.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from elmo.embed.corpus.vectors_folder import Parts
from elmo.embed.embedder import Embedder, StatePolicy
from elmo.errors import ConfigError
from elmo.ops.native.kinds import ComputeType
from elmo.ops.native.threads import num_threads
from elmo.process.worker_pool import WorkerPool
from elmo.shapes import Float
from elmo.weights.hub import Files

Done = Callable[[range], object]
"""Called with each window whose part is written."""
Wanted = dict[str, Any]
"""Keywords of `Embedder.embed`: layers and pool."""


@dataclass(frozen=True)
class Recipe:
    """How another process makes an embedder that computes the same."""

    files: Files
    dtype: ComputeType
    state: StatePolicy
    keep_boundaries: bool
    max_tokens: int
    hashes: tuple[str, str | None]
    """Of the model and of its warm state."""

    @classmethod
    def of(cls, embedder: Embedder) -> "Recipe":
        """ConfigError for an embedder that no other process can make."""
        if embedder.files is None or embedder.device != "cpu" or embedder.state == "carry":
            raise ConfigError(
                f"several workers can't do the work of {embedder!r}: each of them loads the model from its files and "
                "computes on the CPU without torch, and no sentence may depend on the one before. Use a new "
                "Embedder.from_pretrained(MODEL, device='cpu') with the state 'zero' or 'warm', or one worker."
            )
        hashes = (embedder.model_hash, embedder.state_hash)
        return cls(
            embedder.files, embedder.dtype, embedder.state, embedder.keep_boundaries, embedder.max_tokens, hashes
        )

    def make(self) -> Embedder:
        """ConfigError if the files are not of the model any more."""
        embedder = Embedder.from_pretrained(
            self.files,
            device="cpu",
            dtype=self.dtype,
            state=self.state,
            keep_boundaries=self.keep_boundaries,
            max_tokens=self.max_tokens,
        )
        if (embedder.model_hash, embedder.state_hash) != self.hashes:
            raise ConfigError(
                f"{self.files}: holds another model, or another warm state, than the embedder has: it was changed "
                "meanwhile, or in memory alone. Save the model (save_warm_state), load it anew, or use one worker."
            )
        return embedder


class PartMaker:
    """Has parts made, at most `most` at a time.

    `prepare`: (parts, window, rows) -> a call, and its arguments, that makes the part of the window in the `pool`.
    """

    def __init__(
        self, pool: ThreadPoolExecutor | WorkerPool, most: int, prepare: Callable[..., tuple[Any, ...]], done: Done
    ) -> None:
        self._pool, self._most, self._prepare, self._done = pool, most, prepare, done
        self._waiting: dict[Future[None], range] = {}

    def make(self, parts: Parts, window: range, rows: Sequence[Sequence[str]]) -> None:
        """The part of a window, which is written at the latest before `finish` returns."""
        call = self._prepare(parts, window, rows)
        while len(self._waiting) >= self._most:
            self._wait_for_one()
        self._waiting[self._pool.submit(*call)] = window

    def finish(self) -> None:
        """Waits for all parts."""
        while self._waiting:
            self._wait_for_one()

    def _wait_for_one(self) -> None:
        for finished in wait(self._waiting, return_when=FIRST_COMPLETED).done:
            finished.result()
            self._done(self._waiting.pop(finished))


@contextmanager
def part_maker(
    workers: int, embedder: Embedder, wanted: Wanted, done: Done, held_files: Sequence[int]
) -> Iterator[PartMaker]:
    """What makes parts inside the block: this process, or with more than one of `workers` as many others.

    `held_files`: descriptors that stay open, with their locks, as long as one of them lives.
    """
    if workers == 1:

        def embedded(parts: Parts, window: range, rows: Sequence[Sequence[str]]) -> tuple[Any, ...]:
            arrays = _embedded(embedder, rows, wanted)
            return parts.write, window, arrays, embedder.state_dict() if embedder.state == "carry" else None

        # While one window is embedded, the one before is written; whatever happens, that is finished.
        with ThreadPoolExecutor(1) as thread:
            yield PartMaker(thread, 1, embedded, done)
        return
    recipe, threads = Recipe.of(embedder), {"OMP_NUM_THREADS": str(max(1, num_threads() // workers))}

    def for_worker(parts: Parts, window: range, rows: Sequence[Sequence[str]]) -> tuple[Any, ...]:
        return _make_part, recipe, wanted, parts.of_window(window), window, [list(row) for row in rows]

    # Who has set the variable means each process.
    environment = {} if "OMP_NUM_THREADS" in os.environ else threads
    with WorkerPool(workers, held_files=held_files, environment=environment) as processes:
        # Each has one window under way and one waiting.
        yield PartMaker(processes, 2 * workers, for_worker, done)


def _embedded(
    embedder: Embedder, rows: Sequence[Sequence[str]], wanted: Wanted
) -> list[Float[np.ndarray, "*layers tokens dim"]]:
    arrays = embedder.embed(rows, **wanted)
    return arrays if wanted["pool"] is None else [array[..., None, :] for array in arrays]


@lru_cache(1)
def _made(recipe: Recipe) -> Embedder:
    """In a worker: the embedder, loaded once."""
    return recipe.make()


def _make_part(recipe: Recipe, wanted: Wanted, parts: Parts, window: range, rows: Sequence[Sequence[str]]) -> None:
    parts.write(window, _embedded(_made(recipe), rows, wanted))
