"""Streams: shuffled sentences -> windows of (input, target) tokens, the same for both directions.

Source: bilm-tf `bilm/data.py` as described in the specification, 6.2. Each direction is a reader of its own with its
own shuffling, so at a given step the two directions see different sentences. Every row of a window holds a current
sentence; when it is used up the row pulls the next sentence of the shared reader. Sentences are cut across windows,
there is never padding, and the LSTM state is carried from window to window by row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from elmo.pretrain.shards import Shard

BEGIN_TYPE, END_TYPE = 0, 1  # word types of <S> and </S> in prepared data


@dataclass(frozen=True)
class Window:
    """One step's tokens of one direction; time comes first."""

    inputs: np.ndarray
    """(tokens, batch) word types"""
    targets: np.ndarray
    """(tokens, batch) word types, the next one in reading order"""


class SentenceReader:
    """All sentences of all shards in an order shuffled anew every epoch, without end.

    The order of an epoch depends on (seed, direction, epoch) alone, so a position is two numbers.
    """

    def __init__(self, shards: Sequence[Shard], backward: bool, seed: int, shuffle: bool = True) -> None:
        self.shards = list(shards)
        self.backward = backward
        self.seed = seed
        self.shuffle = shuffle
        self.epoch = 0
        self.position = 0
        self._order = self._order_of(0)

    def _order_of(self, epoch: int) -> np.ndarray:
        """(sentences, 2): shard and sentence; shards in a shuffled order, sentences shuffled within their shard."""
        generator = np.random.default_rng([self.seed, int(self.backward), epoch])
        numbers = np.arange(len(self.shards))
        parts = []
        for shard in generator.permutation(numbers) if self.shuffle else numbers:
            count = self.shards[shard].num_sentences
            sentences = generator.permutation(count) if self.shuffle else np.arange(count)
            parts.append(np.stack([np.full(count, shard), sentences], axis=1))
        return np.concatenate(parts)

    def next(self) -> tuple[int, int]:
        """(shard, sentence) of the next sentence."""
        if self.position == len(self._order):
            self.seek(self.epoch + 1, 0)
        shard, sentence = self._order[self.position]
        self.position += 1
        return int(shard), int(sentence)

    def seek(self, epoch: int, position: int) -> None:
        """Go to a place in the endless sequence."""
        if epoch != self.epoch:
            self._order = self._order_of(epoch)
        self.epoch, self.position = epoch, position

    def tokens(self, shard: int, sentence: int) -> np.ndarray:
        """The sentence's word types in reading order, boundaries included."""
        words = self.shards[shard].sentence(sentence)
        if self.backward:
            return np.concatenate(([END_TYPE], words[::-1], [BEGIN_TYPE]))
        return np.concatenate(([BEGIN_TYPE], words, [END_TYPE]))


class Stream:
    """Endless windows of one direction. Its state is where the reader stands and what each row still holds."""

    def __init__(self, reader: SentenceReader, batch_size: int, unroll_steps: int) -> None:
        self.reader = reader
        self.batch_size = batch_size
        self.unroll_steps = unroll_steps
        self._rows: list[tuple[int, int, int] | None] = [None] * batch_size  # shard, sentence, tokens used
        self._tokens: list[np.ndarray] = [np.empty(0, dtype=np.int64)] * batch_size

    def next(self) -> Window:
        """The next window."""
        inputs = np.empty((self.batch_size, self.unroll_steps), dtype=np.int64)
        targets = np.empty_like(inputs)
        for row in range(self.batch_size):
            self._fill(row, inputs[row], targets[row])
        return Window(np.ascontiguousarray(inputs.T), np.ascontiguousarray(targets.T))

    def _fill(self, row: int, inputs: np.ndarray, targets: np.ndarray) -> None:
        filled = 0
        while filled < self.unroll_steps:
            current = self._rows[row]
            if current is None or current[2] == len(self._tokens[row]) - 1:
                shard, sentence = self.reader.next()
                self._tokens[row] = self.reader.tokens(shard, sentence)
                current = (shard, sentence, 0)
            tokens, used = self._tokens[row], current[2]
            taken = min(len(tokens) - 1 - used, self.unroll_steps - filled)
            inputs[filled : filled + taken] = tokens[used : used + taken]
            targets[filled : filled + taken] = tokens[used + 1 : used + 1 + taken]
            self._rows[row] = (current[0], current[1], used + taken)
            filled += taken

    def state_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"epoch": self.reader.epoch, "position": self.reader.position, "rows": list(self._rows)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on exactly where `state_dict` was taken."""
        self.reader.seek(state["epoch"], state["position"])
        self._rows = [None if row is None else tuple(row) for row in state["rows"]]
        for row, current in enumerate(self._rows):
            if current is not None:
                self._tokens[row] = self.reader.tokens(current[0], current[1])
