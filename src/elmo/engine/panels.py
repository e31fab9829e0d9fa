"""A weight laid out for the native library: panels of 64 outputs, see ops/native/inference/kernel.h.

For each panel and each group of factors (1 float32, 2 bfloat16 or 4 int8 of neighboring inputs) there are 64 values of
32 bits, one an output. int8 activations are stored as 0 to 255 with 128 for zero; `sums` is what that adds.
"""

import functools
from typing import NamedTuple

import numpy as np

from elmo.engine.weight_store import StoredWeight, Weight, given
from elmo.ops import native
from elmo.ops.native.arguments import aligned
from elmo.ops.native.kinds import FACTORS_IN_32_BITS, ComputeType
from elmo.ops.native.structures import PANEL, Matrix
from elmo.shapes import Float, Int, Shaped, UInt32
from elmo.weights.native.narrow import Held, Narrow, are_quantized, bfloat16_bits, quantized

# Groups of factors added up before they join the sum: float32 rounds less in shorter sums; the others' are exact or
# float32 sums of coarser factors, and a panel has to stay in a core's own cache.
_CHUNKS: dict[ComputeType, int] = {"float32": 512, "bfloat16": 2048, "int8": 2048}
_ZERO = 128
_FACTORS: dict[ComputeType, type] = {"float32": np.float32, "bfloat16": np.uint16, "int8": np.int8}


class Panels(NamedTuple):
    """The laid out weight. `outer` may be padded with zeros to whole panels."""

    weights: UInt32[np.ndarray, "panels groups 64"]
    """The bits of one value or several."""
    scales: Float[np.ndarray, " outer"] | None
    """int8: the size of each output's step"""
    sums: Int[np.ndarray, "chunks outer"] | None
    """int8: 128 times the sum of each output's integers, chunk by chunk"""
    chunk: int
    inner: int
    """Columns of the weight."""
    dtype: ComputeType

    def matrix(self) -> Matrix:
        """For the library."""
        return Matrix(native.required_library(), self.dtype, self.inner, *self[:4])


def lay_out(weight: Weight | Held, dtype: ComputeType, order: Int[np.ndarray, " outer"] | None = None) -> Panels:
    """The panels of a weight (rows, inner). A `StoredWeight` lets go of its values if the panels have every bit.

    `order`: for each output the weight's row, or -1 for an output of zeros. Default: the weight's rows as they are.
    """
    held = given(weight)
    order = np.arange(held.shape[0]) if order is None else order
    order = np.concatenate([order, np.full(-len(order) % PANEL, -1)])
    group, chunk = FACTORS_IN_32_BITS[dtype], _CHUNKS[dtype]
    groups = -(-held.shape[1] // group)
    panels = Panels(
        aligned((len(order) // PANEL, groups, PANEL), np.uint32),
        np.empty(len(order), np.float32) if dtype == "int8" else None,
        np.empty((-(-groups // chunk), len(order)), np.int32) if dtype == "int8" else None,
        chunk,
        held.shape[1],
        dtype,
    )
    is_rounded = _is_rounded(held, dtype)
    # Panel by panel, straight to its place: the only copy of the whole weight is the one that stays.
    for index, rows in enumerate(order.reshape(-1, PANEL)):
        factors, steps = _factors(held, rows, dtype, is_rounded)
        _fill(panels, index, factors, steps)
    if isinstance(weight, StoredWeight) and (dtype == "float32" or is_rounded):
        weight.release(functools.partial(restored, panels, held.shape, dtype, order))
    return panels


def restored(
    panels: Panels, shape: tuple[int, ...], dtype: ComputeType, order: Int[np.ndarray, " outer"]
) -> Float[np.ndarray, "rows inner"]:
    """The weight (rows, inner) of these panels, with the values that the factors stand for."""
    weight = np.empty(shape, np.float32)
    for index, rows in enumerate(order.reshape(-1, PANEL)):
        factors = np.ascontiguousarray(panels.weights[index].T).view(_FACTORS[dtype])[:, : shape[1]]
        steps = None if panels.scales is None else panels.scales[index * PANEL : (index + 1) * PANEL, None]
        values = factors if dtype == "float32" else Narrow(factors, steps).rows(slice(None))
        weight[rows[rows >= 0]] = values[rows >= 0]
    return weight


def _factors(
    held: Held, rows: Int[np.ndarray, " outputs"], dtype: ComputeType, is_rounded: bool
) -> tuple[Shaped[np.ndarray, "outputs inner"], Float[np.ndarray, "outputs 1"] | None]:
    """Of the rows of one panel: the factors, and for int8 the size of each row's step, (outputs, 1)."""
    there = rows >= 0
    chosen = np.where(there, rows, 0)
    steps = None
    if is_rounded:
        assert isinstance(held, Narrow)
        factors = held.stored[chosen]
        steps = None if held.steps is None else held.steps[chosen]
    else:
        factors = held.rows(chosen) if isinstance(held, Narrow) else held[chosen].astype(np.float32, copy=False)
        if dtype == "int8":
            factors, steps = quantized(factors)
        elif dtype == "bfloat16":
            factors = bfloat16_bits(factors)
    for part in (factors, steps):
        if part is not None:
            part[~there] = 0
    return factors, steps


def _fill(
    panels: Panels,
    index: int,
    factors: Shaped[np.ndarray, "outputs inner"],
    steps: Float[np.ndarray, "outputs 1"] | None,
) -> None:
    """Writes one panel, filled up with zeros to whole groups."""
    panel, outputs = panels.weights[index], slice(index * PANEL, (index + 1) * PANEL)
    per_row = panel.shape[0] * (4 // factors.itemsize)
    if factors.shape[1] < per_row:
        factors = np.pad(factors, ((0, 0), (0, per_row - factors.shape[1])))
    panel[...] = np.ascontiguousarray(factors).view(np.uint32).T
    if panels.scales is not None and panels.sums is not None and steps is not None:
        panels.scales[outputs] = steps[:, 0]
        for part, start in enumerate(range(0, per_row, panels.chunk * 4)):
            sums = factors[:, start : start + panels.chunk * 4].sum(axis=1, dtype=np.int32)
            panels.sums[part, outputs] = _ZERO * sums


def _is_rounded(held: Held, dtype: ComputeType) -> bool:
    """Whether a weight is stored as just the factors that it would be rounded to."""
    if not isinstance(held, Narrow):
        return False
    if dtype == "int8" and held.stored.dtype == np.int8 and held.steps is not None:
        return are_quantized(held.stored, held.steps)
    return dtype == "bfloat16" and held.stored.dtype == np.uint16
