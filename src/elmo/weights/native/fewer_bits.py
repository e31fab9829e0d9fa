"""float32 -> bfloat16 and int8, rounded exactly as `elmo.ops.product` rounds the factors of its products.

So a model stored in few bits, read again as float32 and computed in the same type has the very same vectors as the
model it was made from.
"""

import numpy as np

from elmo.shapes import Float, Int, UInt16

_STEPS = 127
_ZERO_BITS = np.uint32(0xFF)


def bfloat16_bits(tensor: Float[np.ndarray, "*shape"]) -> UInt16[np.ndarray, "*shape"]:
    """The upper 16 bits, to nearest, ties to even."""
    bits = np.ascontiguousarray(tensor, dtype=np.float32).view(np.uint32)
    return ((bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)).astype(np.uint16)


def quantized(
    matrix: Float[np.ndarray, "rows inner"],
) -> tuple[Int[np.ndarray, "rows inner"], Float[np.ndarray, "rows 1"]]:
    """Each row as whole numbers from -127 to 127, and the size of its step: `ops/product/quantized.py`."""
    matrix = np.ascontiguousarray(matrix, dtype=np.float32)
    steps = np.abs(matrix).max(axis=1, keepdims=True) / np.float32(_STEPS)
    steps = ((steps.view(np.uint32) + _ZERO_BITS) & ~_ZERO_BITS).view(np.float32)
    whole = np.divide(matrix, steps, out=np.zeros_like(matrix), where=steps > 0)
    return np.rint(whole).astype(np.int8), steps


def are_quantized(whole: Int[np.ndarray, "rows inner"], steps: Float[np.ndarray, "rows 1"]) -> bool:
    """Whether `quantized` would make just these integers and steps of the values they stand for."""
    largest = np.maximum(whole.max(axis=1, initial=0), -whole.min(axis=1, initial=0).astype(np.int16))
    expected = np.where(steps[:, 0] > 0, _STEPS, 0)
    return bool((largest == expected).all() and (steps >= 0).all() and not (steps.view(np.uint32) & _ZERO_BITS).any())
