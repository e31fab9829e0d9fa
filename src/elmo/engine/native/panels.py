"""A weight laid out for the native library: panels of 64 outputs, see ops/native/inference/kernel.h.

For each panel and each group of factors (1 float32, 2 bfloat16 or 4 int8 of neighboring inputs) there are 64 values of
32 bits, one an output. int8 activations are stored as 0 to 255 with 128 for zero; `sums` is what that adds.
"""

from typing import NamedTuple

import numpy as np

from elmo.engine.memory import address_or_none, aligned
from elmo.ops.native.kinds import FACTORS_IN_32_BITS, ComputeType
from elmo.ops.native.structures import Packed
from elmo.shapes import Float, Int
from elmo.weights.native.fewer_bits import bfloat16_bits, quantized

PANEL = 64
# Groups of factors added up before they join the sum: float32 rounds less in shorter sums; the others' are exact or
# float32 sums of coarser factors, and a panel has to stay in a core's own cache.
_CHUNKS: dict[ComputeType, int] = {"float32": 512, "bfloat16": 2048, "int8": 2048}
_ZERO = 128


class Panels(NamedTuple):
    """The laid out weight. `outer` may be padded with zeros to whole panels."""

    weights: np.ndarray
    """(panels, groups, 64) of 32 bits"""
    scales: Float[np.ndarray, " outer"] | None
    """int8: the size of each output's step"""
    sums: Int[np.ndarray, "chunks outer"] | None
    """int8: 128 times the sum of each output's integers, chunk by chunk"""
    chunk: int

    def packed(self) -> Packed:
        """For the library. It points into these arrays, which must live as long."""
        return Packed(*(address_or_none(array) for array in self[:3]), *self.weights.shape[:2], self.chunk)


def lay_out(weight: Float[np.ndarray, "outer inner"], dtype: ComputeType) -> Panels:
    """The weight's panels."""
    group, chunk = FACTORS_IN_32_BITS[dtype], _CHUNKS[dtype]
    factors = _padded(weight, group)
    scales = sums = None
    if dtype == "int8":
        factors, steps = quantized(factors)
        scales = steps[:, 0].copy()
        parts = range(0, factors.shape[1], chunk * group)
        sums = np.stack([factors[:, start : start + chunk * group].sum(axis=1, dtype=np.int32) for start in parts])
        sums *= _ZERO
    elif dtype == "bfloat16":
        factors = bfloat16_bits(factors)
    return Panels(_in_panels(factors, group), scales, sums, chunk)


def _padded(weight: np.ndarray, group: int) -> np.ndarray:
    """With zeros, to whole panels of whole groups."""
    outer, inner = weight.shape
    if outer % PANEL == 0 and inner % group == 0:
        return np.ascontiguousarray(weight, np.float32)
    padded = np.zeros((outer + -outer % PANEL, inner + -inner % group), np.float32)
    padded[:outer, :inner] = weight
    return padded


def _in_panels(factors: np.ndarray, group: int) -> np.ndarray:
    words = np.ascontiguousarray(factors).view(np.uint32)
    outer, groups = words.shape
    laid_out = aligned((outer // PANEL, groups, PANEL), np.uint32)
    # Panel by panel: both sides of the transposition stay in the cache.
    for panel, rows in zip(laid_out, words.reshape(-1, PANEL, groups), strict=True):
        panel[...] = rows.T
    return laid_out
