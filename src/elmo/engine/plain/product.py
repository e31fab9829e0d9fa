"""The product in numpy: inputs @ weight.T, each row on its own.

A BLAS may round a row differently when other rows stand beside it: it has other code for one row, for a few, and for
the rows left over from its blocks. So every product of a weight has the same number of rows, filled up with zeros: as
many as this BLAS gives the same bits in every place.
"""

import numpy as np

from elmo.engine.held_once import HeldOnce, Weight
from elmo.ops.native.kinds import ComputeType
from elmo.shapes import Float
from elmo.weights.native.narrow import bfloat16_bits, quantized

_ROWS = (8, 4)
_STEPS = 127
_TINIEST = np.float32(_STEPS / np.finfo(np.float32).max)  # see ops/product.py


class PlainProduct:
    """One weight (outer, inner), its factors rounded to `dtype`. Products are computed in the weight's own type."""

    def __init__(self, weight: Weight, dtype: ComputeType) -> None:
        self.outer, self.inner = weight.shape
        self._dtype: ComputeType = dtype
        self._steps = None
        held, weight = weight, np.asarray(weight)
        if dtype == "int8":
            whole, steps = quantized(weight)
            weight, self._steps = whole.astype(weight.dtype), steps[:, 0].astype(weight.dtype)
        elif dtype == "bfloat16":
            weight = to_bfloat16(weight)
        self._weight = np.ascontiguousarray(weight.T)
        self._rows = _rows_alike(self._weight)
        if isinstance(held, HeldOnce) and dtype == "float32":
            held.hold(lambda: self._weight.T)

    @property
    def num_bytes(self) -> int:
        """Of the weight."""
        return self._weight.nbytes

    def __call__(
        self, inputs: Float[np.ndarray, "rows inner"], bias: Float[np.ndarray, " outer"] | None = None
    ) -> Float[np.ndarray, "rows outer"]:
        """inputs @ weight.T + bias"""
        factors, steps = self._factors(inputs)
        out = np.empty((len(inputs), self.outer), self._weight.dtype)
        for start in range(0, len(inputs), self._rows):
            rows = factors[start : start + self._rows]
            if len(rows) < self._rows:
                rows = np.concatenate([rows, np.zeros((self._rows - len(rows), self.inner), rows.dtype)])
            # What exceeds float32 becomes inf, as in the C kernels; whoever uses the vectors checks them.
            with np.errstate(over="ignore", invalid="ignore"):
                out[start : start + self._rows] = np.matmul(rows, self._weight)[: len(inputs) - start]
        if self._steps is not None:
            out *= self._steps * steps
        if bias is not None:
            out += bias
        return out

    def _factors(
        self, inputs: Float[np.ndarray, "rows inner"]
    ) -> tuple[Float[np.ndarray, "rows inner"], Float[np.ndarray, "rows 1"] | None]:
        """The rounded rows, and for int8 the size of each row's step."""
        if self._dtype == "int8":
            return quantized_rows(inputs)
        inputs = np.asarray(inputs, self._weight.dtype)
        return (to_bfloat16(inputs) if self._dtype == "bfloat16" else inputs), None


def _rows_alike(weight: Float[np.ndarray, "inner outer"]) -> int:
    """The largest number of rows whose products come out the same in every place, tried with equal rows."""
    row = np.random.default_rng(0).standard_normal(len(weight)).astype(weight.dtype)
    for count in _ROWS:
        found = np.matmul(np.tile(row, (count, 1)), weight)
        if (found == found[0]).all():
            return count
    return 1


def to_bfloat16(values: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """Rounded to bfloat16, but stored as before."""
    bits = bfloat16_bits(values).astype(np.uint32) << np.uint32(16)
    return bits.view(np.float32).reshape(values.shape).astype(values.dtype)


def quantized_rows(
    values: Float[np.ndarray, "rows inner"],
) -> tuple[Float[np.ndarray, "rows inner"], Float[np.ndarray, "rows 1"]]:
    """Activations: each row as integers from -127 to 127 (still floats), and the size of its step, (rows, 1).

    A row's steps depend on that row alone, so a sentence's vectors don't depend on the other sentences of the batch.
    """
    largest = np.abs(values).max(axis=1, keepdims=True, initial=0)
    steps = np.divide(_STEPS, largest, out=np.zeros_like(largest), where=largest > _TINIEST)
    return np.rint(values * steps), largest / _STEPS
