"""All layers of both directions, on as many cores as there are.

Directions, and rows of a batch, don't know each other, so each thread takes some of them through all layers and no
thread waits. Where there are fewer rows than that needs, all threads share the columns of one layer after the other; so
they do for a few rows whose layers, read side by side, would push each other out of the cache.
"""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from elmo.engine.reading import Layer, Reading, Shared
from elmo.ops.native.threads import num_threads, run_parallel
from elmo.shapes import Float, Int

_FEW_ROWS = 4
_CACHE_BYTES = 32 << 20  # last-level cache of a group of cores, usually


class Stack(NamedTuple):
    """The layers of one direction."""

    layers: Sequence[Layer]
    skips: Sequence[bool]
    """Whether each layer adds its input to its output."""
    backward: bool
    """Whether sentences are read from their end."""


def read_side_by_side(
    stacks: Sequence[Stack],
    layers: Float[np.ndarray, "layers_and_tokens batch tokens dim"],
    lengths: Int[np.ndarray, " batch"],
    hidden: Float[np.ndarray, "layers batch projections"],
    cell: Float[np.ndarray, "layers batch cells"],
) -> tuple[Float[np.ndarray, "layers batch projections"], Float[np.ndarray, "layers batch cells"]]:
    """Writes layers[1:] from layers[0], each direction in its share of `dim`; returns the new (hidden, cell)."""
    new_hidden, new_cell = hidden.copy(), cell.copy()
    can_share = all(layer.shares_columns for stack in stacks for layer in stack.layers)
    threads, rows = num_threads() if can_share else 1, len(lengths)
    parts = min(rows, -(-threads // len(stacks)))
    shares = [
        _Share(stack, place, len(stacks), part, parts, layers, lengths, new_hidden, new_cell)
        for part in range(parts)
        for place, stack in enumerate(stacks)
    ]
    if len(shares) >= threads and not (can_share and _outgrow_the_cache(stacks, rows)):
        run_parallel([functools.partial(_read_alone, shares[rank::threads]) for rank in range(threads)])
    else:
        for share in shares:
            share.together(threads)
    for share in shares:
        share.give_back()
    return new_hidden, new_cell


def _outgrow_the_cache(stacks: Sequence[Stack], rows: int) -> bool:
    """With a few rows, reading the weights at every step is what takes the time (dev/LOG.md)."""
    read_at_once = sum(max(layer.num_bytes for layer in stack.layers) for stack in stacks)
    return rows <= _FEW_ROWS and read_at_once > _CACHE_BYTES


def _read_alone(shares: Sequence["_Share"]) -> None:
    for share in shares:
        for layer, reading in zip(share.stack.layers, share.readings, strict=True):
            layer.run(reading)


class _Share:
    """Some rows of one direction."""

    def __init__(
        self,
        stack: Stack,
        place: int,
        places: int,
        part: int,
        parts: int,
        layers: np.ndarray,
        lengths: np.ndarray,
        hidden: np.ndarray,
        cell: np.ndarray,
    ) -> None:
        self.stack = stack
        order = np.argsort(-lengths, kind="stable")
        self.rows = order[part::parts]
        alive, positions = positions_of(self.rows, lengths[self.rows], layers.shape[2], backward=stack.backward)
        size = hidden.shape[2] // places
        flat = layers.reshape(len(layers), -1, layers.shape[3])[:, :, place * size : (place + 1) * size]
        self._whole = (_columns(hidden, place, places), _columns(cell, place, places))
        # Contiguous, unlike [:, rows].
        hidden, cell = self._state = [np.take(whole, self.rows, axis=1) for whole in self._whole]
        self.readings = [
            Reading(alive, positions, flat[index], flat[index + 1], hidden[index], cell[index], skips)
            for index, skips in enumerate(stack.skips)
        ]

    def together(self, threads: int) -> None:
        """All threads share the columns of each layer."""
        shared = [Shared.of(threads, reading) for reading in self.readings]

        def run(rank: int) -> None:
            for layer, reading, common in zip(self.stack.layers, self.readings, shared, strict=True):
                layer.run(reading, common, rank)

        run_parallel([functools.partial(run, rank) for rank in range(threads)])

    def give_back(self) -> None:
        """The new state of these rows, in its place among all."""
        for whole, part in zip(self._whole, self._state, strict=True):
            whole[:, self.rows] = part


def _columns(state: np.ndarray, place: int, places: int) -> np.ndarray:
    size = state.shape[2] // places
    return state[:, :, place * size : (place + 1) * size]


def positions_of(
    rows: Int[np.ndarray, " rows"], lengths: Int[np.ndarray, " rows"], tokens: int, *, backward: bool
) -> tuple[Int[np.ndarray, " steps"], Int[np.ndarray, " all_tokens"]]:
    """How many rows (longest first) have a token at each step, and where those tokens lie in the padded batch."""
    steps = np.arange(lengths[0] if len(lengths) else 0)
    there = lengths[None, :] > steps[:, None]
    within = lengths[None, :] - 1 - steps[:, None] if backward else steps[:, None]
    return there.sum(axis=1), (rows[None, :] * tokens + within)[there]
