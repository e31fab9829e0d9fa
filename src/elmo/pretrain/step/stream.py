"""Streams: shuffled sentences -> windows of (input, target) tokens, the same for both directions.

Source: bilm-tf `bilm/data.py`; docs/specification.md, 6.2. Each direction is a reader of its own with its
own shuffling, so at a given step the two directions see different sentences. Every row of a window holds a current
sentence; when it is used up the row pulls the next sentence of the shared reader. Sentences are cut across windows,
there is never padding, and the LSTM state is carried from window to window by row.

Rows are numbered over all processes of a run. Each process knows what every row holds, which takes the sentences'
lengths alone, and makes the tokens of its own rows only: so any number of processes reads what one would read. All rows
are filled at once; tests/pretrain/step/test_stream.py compares it with a plain loop over the rows.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int

from elmo.corpus.shards import BEGIN_SENTENCE_TYPE, END_SENTENCE_TYPE, Shard

_NONE = -1  # a row that holds no sentence yet


@dataclass(frozen=True)
class StreamWindow:
    """One step's tokens of one direction in this process's rows; time comes first."""

    inputs: Int[np.ndarray, "tokens rows"]
    """Word types."""
    targets: Int[np.ndarray, "tokens rows"]
    """Word types, the next one in reading order."""


class StreamPosition(NamedTuple):
    """A stream's position. The arrays are never written to again, so it is cheap to take in every step."""

    epoch: int
    """Of its reader."""
    position: int
    """The reader's place in that epoch."""
    held: Int[np.ndarray, "rows 2"]
    """Shard and sentence that each row holds; -1 before its first one."""
    used: Int[np.ndarray, " rows"]
    """Predictions of it that were made."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        rows = np.column_stack([self.held, self.used]).tolist()
        return {
            "epoch": self.epoch,
            "position": self.position,
            "rows": [None if row[0] == _NONE else tuple(row) for row in rows],
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "StreamPosition":
        """The reverse of `to_dict`."""
        rows = [(_NONE, _NONE, 0) if row is None else tuple(row) for row in values["rows"]]
        table = np.array(rows, dtype=np.int64)
        return cls(values["epoch"], values["position"], table[:, :2].copy(), table[:, 2].copy())


@dataclass(frozen=True)
class RunPosition:
    """How far a run has come: everything that is saved of it beside tensors, the same on all ranks."""

    step: int
    tokens_read: int
    """Predictions of each direction so far, of all ranks. `unroll_steps` may change when a run is resumed, so this
    does not follow from the number of steps."""
    streams: dict[str, StreamPosition]
    warmup_tokens: int | None = None
    """Of `tokens_read`, those of the learning rate's warm-up; None: not noted."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        streams = {direction: stream.to_dict() for direction, stream in self.streams.items()}
        counts = {"step": self.step, "tokens_read": self.tokens_read, "warmup_tokens": self.warmup_tokens}
        return {**counts, "streams": streams}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "RunPosition":
        """The reverse of `to_dict`."""
        streams = {direction: StreamPosition.from_dict(stream) for direction, stream in values["streams"].items()}
        return cls(values["step"], values["tokens_read"], streams, values.get("warmup_tokens"))


class SentenceReader:
    """All sentences of all shards in an order reshuffled every epoch, without end.

    The order of an epoch depends on (seed, direction, epoch) alone, so a position is two numbers. Memory: 4 bytes for
    each sentence.
    """

    def __init__(self, shards: Sequence[Shard], backward: bool, seed: int) -> None:
        self.shards = list(shards)
        self.backward = backward
        self.seed = seed
        self.epoch = 0
        self.position = 0
        self._order(0)

    def _order(self, epoch: int) -> None:
        """Shards in a shuffled order, sentences shuffled within their shard."""
        generator = np.random.default_rng([self.seed, int(self.backward), epoch])
        self._shards = generator.permutation(len(self.shards))
        parts = [generator.permutation(self.shards[shard].num_sentences).astype(np.uint32) for shard in self._shards]
        self._sentences = np.concatenate(parts)
        self._ends = np.cumsum([len(part) for part in parts])

    def take(self, count: int) -> Int[np.ndarray, "sentences 2"]:
        """Shard and sentence of the next sentences, `count` or as many as the epoch still has, but one."""
        if self.position == len(self._sentences):
            self.seek(self.epoch + 1, 0)
        places = np.arange(self.position, min(self.position + count, len(self._sentences)))
        self.position += len(places)
        shards = self._shards[np.searchsorted(self._ends, places, side="right")]
        return np.stack([shards, self._sentences[places].astype(np.int64)], axis=1)

    def give_back(self, count: int) -> None:
        """The last sentences of the last `take` were not needed."""
        self.position -= count

    def seek(self, epoch: int, position: int) -> None:
        """Go to a place in the endless sequence."""
        if epoch != self.epoch:
            self._order(epoch)
        self.epoch, self.position = epoch, position

    def lengths(self, sentences: Int[np.ndarray, "sentences 2"]) -> Int[np.ndarray, " sentences"]:
        """Predictions in each of the sentences: one for each word and one for the boundary behind."""
        return self._each(
            sentences[:, 0], sentences[:, 1], lambda shard, at: shard.offsets[at + 1] - shard.offsets[at] + 1
        )

    def tokens(
        self,
        sentences: Int[np.ndarray, "tokens 2"],
        lengths: Int[np.ndarray, " tokens"],
        positions: Int[np.ndarray, " tokens"],
    ) -> Int[np.ndarray, " tokens"]:
        """Word types: of each of the sentences the one at a position in reading order, boundaries counted.

        Position 0 is the boundary before, position `lengths` that behind.
        """
        boundaries = BEGIN_SENTENCE_TYPE, END_SENTENCE_TYPE
        first, last = reversed(boundaries) if self.backward else boundaries
        found = np.where(positions == 0, first, last)
        inner = np.flatnonzero((positions > 0) & (positions < lengths))
        places = lengths[inner] - 1 - positions[inner] if self.backward else positions[inner] - 1
        of_shard = sentences[inner]
        found[inner] = self._each(
            of_shard[:, 0],
            np.stack([of_shard[:, 1], places]),
            lambda shard, at: shard.tokens[shard.offsets[at[0]] + at[1]],
        )
        return found

    def _each(
        self, shards: Int[np.ndarray, " places"], at: Int[np.ndarray, "... places"], read: Any
    ) -> Int[np.ndarray, " places"]:
        """What `read` finds in each shard for its own places `at`; few shards are open at a time."""
        found = np.empty(len(shards), dtype=np.int64)
        for shard in np.unique(shards):
            own = shards == shard
            found[own] = read(self.shards[shard], at[..., own])
        return found


class Stream:
    """Endless windows of one direction. Its state is the reader's position and the rest of each row's sentence.

    `batch_size`: rows of all processes; `rows`: this process's own, None for all.
    """

    def __init__(self, reader: SentenceReader, batch_size: int, unroll_steps: int, rows: slice | None = None) -> None:
        self.reader = reader
        self.batch_size = batch_size
        self.unroll_steps = unroll_steps
        self.own = rows if rows is not None else slice(0, batch_size)
        self._held = np.full((batch_size, 2), _NONE, dtype=np.int64)  # shard, sentence
        self._used = np.zeros(batch_size, dtype=np.int64)  # predictions of it that were made
        self._lengths = np.zeros(batch_size, dtype=np.int64)  # predictions it has

    def next(self) -> StreamWindow:
        """The next window."""
        steps = self.unroll_steps
        held, lengths, used = self._held, self._lengths, self._used
        needs = np.maximum(steps - (lengths - used), 0)
        pulled, ends, until = self._pull(needs)
        window = self._window(pulled, ends, until)
        since = np.concatenate([[0], until[:-1]])
        rows = np.flatnonzero(until > since)  # those that pulled
        last = until[rows] - 1
        starts = np.concatenate([[0], ends])
        self._used = used + steps
        self._used[rows] = needs[rows] - (starts[last] - starts[since[rows]])
        self._held, self._lengths = held.copy(), lengths.copy()
        self._held[rows], self._lengths[rows] = pulled[last], ends[last] - starts[last]
        return window

    def _pull(
        self, needs: Int[np.ndarray, " rows"]
    ) -> tuple[Int[np.ndarray, "sentences 2"], Int[np.ndarray, " sentences"], Int[np.ndarray, " rows"]]:
        """Each row in turn takes sentences until it has the predictions it needs.

        The sentences; their lengths added up; how many of them are taken after each row.
        """
        chunks: list[Int[np.ndarray, "some 2"]] = []
        ends: list[int] = []
        until = np.empty(len(needs), dtype=np.int64)
        taken = total = 0
        for row, need in enumerate(needs.tolist()):
            if need:
                # More is only read when all that was read is used, so that the rest is within one epoch.
                while not ends or ends[-1] < total + need:
                    chunks.append(self.reader.take(self._guess(needs[row:])))
                    added = np.cumsum(self.reader.lengths(chunks[-1])) + (ends[-1] if ends else 0)
                    ends += added.tolist()
                taken = bisect_left(ends, total + need, taken) + 1
                total = ends[taken - 1]
            until[row] = taken
        self.reader.give_back(len(ends) - taken)
        found = np.concatenate([*chunks, np.empty((0, 2), dtype=np.int64)])[:taken]
        return found, np.array(ends[:taken], dtype=np.int64), until

    def _guess(self, needs: Int[np.ndarray, " rows"]) -> int:
        """About how many sentences are still wanted; reading some too many costs little."""
        return 16 + int(needs.sum()) // 16 + int(np.count_nonzero(needs))

    def _window(
        self,
        pulled: Int[np.ndarray, "sentences 2"],
        ends: Int[np.ndarray, " sentences"],
        until: Int[np.ndarray, " rows"],
    ) -> StreamWindow:
        """The tokens of this process's rows: the rest of what a row holds, then what it pulled, cut at the end."""
        own, steps = self.own, self.unroll_steps
        rows = np.arange(own.start, own.stop)
        left = np.minimum(self._lengths[own] - self._used[own], steps)
        first = until[own.start - 1] if own.start else 0
        mine = slice(first, until[own.stop - 1])
        row_of = np.searchsorted(until, np.arange(mine.start, mine.stop), side="right")
        # Every piece: the row it belongs to, its sentence, that one's length, and the prediction it begins with.
        row = np.concatenate([rows, row_of])
        order = np.argsort(row, kind="stable")  # a row's old sentence comes before those it pulled
        sentences = np.concatenate([self._held[own], pulled[mine]])[order]
        whole = np.diff(ends, prepend=0)[mine]
        lengths = np.concatenate([self._lengths[own], whole])[order]
        begins = np.concatenate([self._used[own], np.zeros_like(whole)])[order]
        counts = np.concatenate([left, whole])[order]
        return self._cut(row[order] - own.start, sentences, lengths, begins, counts, len(rows))

    def _cut(
        self,
        row: Int[np.ndarray, " pieces"],
        sentences: Int[np.ndarray, "pieces 2"],
        lengths: Int[np.ndarray, " pieces"],
        begins: Int[np.ndarray, " pieces"],
        counts: Int[np.ndarray, " pieces"],
        num_rows: int,
    ) -> StreamWindow:
        """Puts pieces of `counts` predictions one after the other into their rows; too long ones are dropped."""
        after = np.cumsum(counts)
        before = after - counts
        firsts = np.searchsorted(row, np.arange(num_rows))
        place = before - before[firsts][row]  # of each piece's first prediction in its row
        counts = np.minimum(counts, self.unroll_steps - place)
        piece = np.repeat(np.arange(len(counts)), counts)
        at = np.arange(len(piece)) - np.repeat(np.cumsum(counts) - counts, counts) + begins[piece]
        shape = (num_rows, self.unroll_steps)
        inputs, targets = (
            self.reader.tokens(sentences[piece], lengths[piece], at + ahead).reshape(shape) for ahead in (0, 1)
        )
        return StreamWindow(np.ascontiguousarray(inputs.T), np.ascontiguousarray(targets.T))

    @property
    def position(self) -> StreamPosition:
        """Where the next window begins."""
        return StreamPosition(self.reader.epoch, self.reader.position, self._held, self._used)

    def seek(self, position: StreamPosition) -> None:
        """Continue exactly where `position` was taken."""
        self.reader.seek(position.epoch, position.position)
        # `next` makes new arrays in every step, so these can be shared.
        self._held, self._used = position.held, position.used
        self._lengths = np.zeros(len(self._held), dtype=np.int64)
        known = self._held[:, 0] != _NONE
        self._lengths[known] = self.reader.lengths(self._held[known])
