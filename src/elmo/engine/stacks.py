"""All layers of both directions, on as many cores as there are.

Directions, and rows of a batch, don't know each other, so each thread takes some of them through all layers and no
thread waits. Where there are fewer rows than that needs, all threads share the columns of one layer after the other.
With a few rows, reading the weights at every step is what takes the time: layers that are read at once may push each
other out of the cache, and a second thread may take longer to wake up than it saves. So for a few rows the variant is
chosen by timing it (`autotune`).
"""

import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from elmo.engine.autotune import Autotuner
from elmo.engine.backend import Layer
from elmo.engine.row_packing import RowBatch, schedule
from elmo.ops import native
from elmo.ops.native.threads import num_threads, run_parallel
from elmo.shapes import Float, Int

_FEW_ROWS = 8
_autotuner = Autotuner()


class Stack(NamedTuple):
    """The layers of one direction."""

    layers: Sequence[Layer]
    skips: Sequence[bool]
    """Whether each layer adds its input to its output."""
    backward: bool
    """Whether sentences are read from their end."""


def read_stacks(
    stacks: Sequence[Stack],
    layers: Float[np.ndarray, "layers_and_tokens positions dim"],
    starts: Int[np.ndarray, " batch"],
    lengths: Int[np.ndarray, " batch"],
    hidden: Float[np.ndarray, "layers batch projections"],
    cell: Float[np.ndarray, "layers batch cells"],
) -> tuple[Float[np.ndarray, "layers batch projections"], Float[np.ndarray, "layers batch cells"]]:
    """Writes layers[1:] from layers[0], each direction in its share of `dim`; returns the new (hidden, cell).

    `starts`: the position of each row's first token.
    """
    threads, rows = num_threads(), len(lengths)
    parts = min(rows, -(-threads // len(stacks)))
    order = np.argsort(-lengths, kind="stable")
    new_hidden, new_cell = np.empty_like(hidden), np.empty_like(cell)
    # (layers, rows, directions, values), on the same memory.
    layers, hidden, cell, *new = (
        one.reshape(*one.shape[:2], len(stacks), one.shape[2] // len(stacks))
        for one in (layers, hidden, cell, new_hidden, new_cell)
    )
    shares: list[_Share] = []
    for part in range(parts):
        for place, stack in enumerate(stacks):
            own = (one[:, :, place] for one in (layers, hidden, cell))
            shares.append(_Share(stack, order[part::parts], starts, lengths, *own))
    variants = _variants(shares, threads)
    if not all(layer.shares_columns for stack in stacks for layer in stack.layers):
        variants.pop()
    if threads > 1 and 0 < rows <= _FEW_ROWS:
        read_at_a_step = sum(layer.num_bytes for stack in stacks for layer in stack.layers)
        kind = read_at_a_step, rows, threads, len(variants)  # numpy has fewer, whose times are others
        _autotuner.run(kind, max(1, int(lengths.sum())), variants)
    else:
        variants[1 if len(shares) >= threads else -1]()
    for index, share in enumerate(shares):
        for whole, own in zip(new, (share.hidden, share.cell), strict=True):
            whole[:, share.rows, index % len(stacks)] = own
    return new_hidden, new_cell


def _variants(shares: Sequence["_Share"], threads: int) -> list[Callable[[], None]]:
    """One thread; each share in a thread, as far as there are threads; the columns of each layer shared by all."""

    def apart() -> None:
        most = min(threads, len(shares))
        run_parallel([functools.partial(_read_alone, shares[rank::most]) for rank in range(most)])

    def together() -> None:
        for share in shares:
            share.together(threads)

    return [functools.partial(_read_alone, shares), apart, together]


def _read_alone(shares: Sequence["_Share"]) -> None:
    for share in shares:
        for layer, batch in zip(share.stack.layers, share.batches, strict=True):
            layer.run(batch)


class _Share:
    """Some rows of one direction."""

    def __init__(
        self,
        stack: Stack,
        rows: Int[np.ndarray, " some"],
        starts: Int[np.ndarray, " batch"],
        lengths: Int[np.ndarray, " batch"],
        layers: Float[np.ndarray, "layers_and_tokens positions size"],
        hidden: Float[np.ndarray, "layers batch projection"],
        cell: Float[np.ndarray, "layers batch cell"],
    ) -> None:
        self.stack, self.rows = stack, rows
        steps = schedule(starts[rows], lengths[rows], backward=stack.backward)
        # Contiguous, unlike [:, rows].
        self.hidden, self.cell = np.take(hidden, rows, 1), np.take(cell, rows, 1)
        self.batches = [
            RowBatch(steps, layers[index], layers[index + 1], self.hidden[index], self.cell[index], skips)
            for index, skips in enumerate(stack.skips)
        ]

    def together(self, threads: int) -> None:
        """All threads share the columns of each layer."""
        teams = [batch.team(threads) for batch in self.batches]

        def run(rank: int) -> None:
            for layer, batch, team in zip(self.stack.layers, self.batches, teams, strict=True):
                layer.run(batch, team, rank)

        def leave(rank: int) -> None:
            for team in teams:
                native.required_library().leave(team.arrivals, rank)

        run_parallel([functools.partial(run, rank) for rank in range(threads)], leave)
