"""All layers of both directions through fused layers, on as many cores as there are.

Directions, and rows of a batch, don't know each other, so each thread takes some of them through all layers and no
thread waits. Where there are fewer rows than that needs, all threads share the columns of one layer after the other; so
they do for a few rows whose layers, read side by side, would push each other out of the cache.
"""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from elmo.ops.native.threads import num_threads, run_together
from elmo.ops.projected_lstm.fused import FusedLayer, Reading, Shared

_FEW_ROWS = 4
_CACHE_BYTES = 32 << 20  # last-level cache of a group of cores, usually


class Stack(NamedTuple):
    """The layers of one direction."""

    layers: Sequence[FusedLayer]
    skips: Sequence[bool]
    """Whether each layer adds its input to its output."""
    backward: bool
    """Whether sentences are read from their end."""


def read_side_by_side(
    stacks: Sequence[Stack],
    layers: Float[Tensor, "layers_and_tokens batch tokens dim"],
    lengths: Int[Tensor, " batch"],
    hidden: Float[Tensor, "layers batch projections"],
    cell: Float[Tensor, "layers batch cells"],
) -> tuple[Float[Tensor, "layers batch projections"], Float[Tensor, "layers batch cells"]]:
    """Writes layers[1:] from layers[0], each direction in its share of `dim`; gives the new (hidden, cell)."""
    new_hidden, new_cell = hidden.clone(), cell.clone()
    threads, rows = num_threads(), len(lengths)
    parts = min(rows, -(-threads // len(stacks)))
    shares = [
        _Share(stack, place, len(stacks), part, parts, layers, lengths, new_hidden, new_cell)
        for part in range(parts)
        for place, stack in enumerate(stacks)
    ]
    if len(shares) >= threads and not _outgrow_the_cache(stacks, rows):
        run_together([functools.partial(_read_alone, shares[rank::threads]) for rank in range(threads)])
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
        layers: Tensor,
        lengths: Tensor,
        hidden: Tensor,
        cell: Tensor,
    ) -> None:
        self.stack = stack
        sorted_lengths, order = lengths.sort(descending=True, stable=True)
        self.rows, lengths = order[part::parts], sorted_lengths[part::parts]
        alive, positions = _positions(self.rows, lengths, layers.shape[2], backward=stack.backward)
        size = hidden.shape[2] // places
        flat = layers.flatten(1, 2)[:, :, place * size : (place + 1) * size]
        self._whole = (_columns(hidden, place, places), _columns(cell, place, places))
        self._state = [part[:, self.rows] for part in self._whole]
        self.readings = [
            Reading(alive, positions, flat[index], flat[index + 1], *(part[index] for part in self._state), skips)
            for index, skips in enumerate(stack.skips)
        ]

    def together(self, threads: int) -> None:
        """All threads share the columns of each layer."""
        shared = [Shared.of(threads, reading) for reading in self.readings]

        def run(rank: int) -> None:
            for layer, reading, common in zip(self.stack.layers, self.readings, shared, strict=True):
                layer.run(reading, common, rank)

        run_together([functools.partial(run, rank) for rank in range(threads)])

    def give_back(self) -> None:
        """The new state of these rows, in its place among all."""
        for whole, part in zip(self._whole, self._state, strict=True):
            whole[:, self.rows] = part


def _columns(state: Tensor, place: int, places: int) -> Tensor:
    size = state.shape[2] // places
    return state[:, :, place * size : (place + 1) * size]


def _positions(rows: Tensor, lengths: Tensor, tokens: int, *, backward: bool) -> tuple[Tensor, Tensor]:
    """How many rows (longest first) have a token at each step, and where those tokens lie in the padded batch."""
    steps = torch.arange(int(lengths[0]) if len(lengths) else 0, device="cpu")
    there = lengths[None, :] > steps[:, None]
    within = lengths[None, :] - 1 - steps[:, None] if backward else steps[:, None]
    return there.sum(dim=1), (rows[None, :] * tokens + within)[there]
