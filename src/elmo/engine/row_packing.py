"""Packs sentences into rows of similar length; a row may hold several, which it reads one after the other.

Every step of a layer reads all weights, however few rows are left to use them for. There are at least as many steps as
the longest sentence has tokens, so shorter ones share rows of about that length: all rows have work until the end. A
sentence's vectors don't depend on the rows beside it, nor on what its row read before.
"""

import heapq
from typing import NamedTuple

import numpy as np

from elmo.ops.native.lstm import Steps, Team, Turns
from elmo.shapes import Float, Int

# More rows bring nothing: a product of so many has the weights read often enough. Divisible by the rows of a tile.
_MOST_ROWS = 120
_TILE = 6


class RowBatch(NamedTuple):
    """The tokens of some rows, for one layer. A row is one sentence, or with `steps.turns` several in turn."""

    steps: Steps
    inputs: Float[np.ndarray, "positions dim"]
    outputs: Float[np.ndarray, "positions projection"]
    """Rows without gaps in them, however far apart."""
    hidden: Float[np.ndarray, "sentences projection"]
    cell: Float[np.ndarray, "sentences cell"]
    """The state of each sentence, brought up to date in place."""
    skips: bool
    """Whether the inputs are added to the outputs."""

    def team(self, threads: int) -> Team:
        """What `threads` threads need to read it together."""
        return Team(threads, self.steps, self.hidden.shape[1], self.cell.shape[1])


class Packing(NamedTuple):
    """Which row reads each sentence, and from which step on. Rows are numbered by their tokens, the most first."""

    rows: Int[np.ndarray, " sentences"]
    begins: Int[np.ndarray, " sentences"]


def num_rows(lengths: Int[np.ndarray, " sentences"]) -> int:
    """Rows with which the longest sentence alone decides the number of steps."""
    longest, total = int(lengths.max(initial=0)), int(lengths.sum())
    fitting = -(-total // longest) if longest else 0
    whole_tiles = fitting + -fitting % _TILE
    return min(int((lengths > 0).sum()), whole_tiles, _MOST_ROWS)


def pack(lengths: Int[np.ndarray, " sentences"], rows: int) -> Packing:
    """The longest sentence first, each to the row with the fewest tokens so far. `lengths`: descending, none 0."""
    free = [(0, row) for row in range(rows)]
    chosen, begins = np.empty(len(lengths), np.int64), np.empty(len(lengths), np.int64)
    for sentence, length in enumerate(lengths.tolist()):
        begin, row = free[0]
        chosen[sentence], begins[sentence] = row, begin
        heapq.heapreplace(free, (begin + length, row))
    by_tokens = sorted(free, key=lambda entry: (-entry[0], entry[1]))
    number = np.empty(rows, np.int64)
    number[[row for _, row in by_tokens]] = np.arange(rows)
    return Packing(number[chosen], begins)


def schedule(
    starts: Int[np.ndarray, " sentences"],
    lengths: Int[np.ndarray, " sentences"],
    *,
    backward: bool,
    rows: int | None = None,
) -> Steps:
    """When which token is read. `starts`: the place of each sentence's first token; `lengths`: descending.

    `rows`: of the computation (default: `num_rows` these lengths).
    """
    starts, lengths = starts[lengths > 0], lengths[lengths > 0]
    rows = num_rows(lengths) if rows is None else rows
    if len(lengths) == rows:
        steps = np.arange(lengths[0] if len(lengths) else 0)[:, None]
        there = lengths > steps
        within = lengths - 1 - steps if backward else steps
        return Steps(there.sum(axis=1), (starts + within)[there], None)
    packing = pack(lengths, rows)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    step = np.arange(len(owner)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    within = lengths[owner] - 1 - step if backward else step
    order = np.lexsort((packing.rows[owner], packing.begins[owner] + step))
    alive = np.bincount(packing.begins[owner] + step)
    places = (starts[owner] + within)[order]
    begins = np.where(step == 0, owner, -1)[order].astype(np.int32)
    ends = np.where(step == lengths[owner] - 1, owner, -1)[order].astype(np.int32)
    return Steps(alive, places, Turns(begins, ends))
