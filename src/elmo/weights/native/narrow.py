"""Tensors in fewer bits than float32, as in a file. They are widened where their values are needed.

An embedder of a model stored in int8 keeps a quarter of the bytes this way, and the engine lays out what is stored
without rounding it again. Tensors are rounded exactly as `elmo.ops.product` rounds the factors of its products: a model
stored in few bits, read again as float32 and computed in the same type has the very same vectors as its original.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from elmo.shapes import Float, Int, Shaped, UInt16

_STEPS = 127
_ZERO_BITS = np.uint32(0xFF)


@dataclass(frozen=True)
class Narrow:
    """A tensor as it is stored: float16; bfloat16, as 16-bit integers; or int8, in steps of each row's own."""

    stored: Shaped[np.ndarray, "..."]
    steps: Float[np.ndarray, "rows 1"] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the tensor."""
        return self.stored.shape

    @property
    def dtype(self) -> np.dtype:
        """Of the values that it represents."""
        return np.dtype(np.float32)

    def rows(self, which: slice | Int[np.ndarray, " some"]) -> Float[np.ndarray, "*some_rows"]:
        """Some rows as float32, in memory of their own; of a single value that value."""
        part = self.stored[which] if self.stored.ndim else self.stored.copy()
        if part.dtype == np.uint16:
            return (part.astype(np.uint32) << np.uint32(16)).view(np.float32)
        found = part.astype(np.float32)
        if self.steps is not None:
            with np.errstate(over="ignore", invalid="ignore"):  # readers refuse values that aren't finite
                found *= self.steps[which]
        return found

    def __array__(self, dtype: np.dtype | None = None, copy: bool | None = None) -> Shaped[np.ndarray, "..."]:
        """The whole tensor; float32 unless another type is asked for."""
        whole = np.asarray(self.rows(slice(None)))
        return whole if dtype is None else whole.astype(dtype, copy=False)


Held = np.ndarray | Narrow


Form = TypeVar("Form")


class HeldArrays(Mapping[str, np.ndarray], Generic[Form]):
    """Tensors by name, kept in another form, from which each access makes an array."""

    def __init__(self, held: Mapping[str, Form]) -> None:
        self.held = dict(held)
        """The stored form of each."""

    def __getitem__(self, name: str) -> Float[np.ndarray, "..."]:
        return np.asarray(self.held[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.held)

    def __len__(self) -> int:
        return len(self.held)


class NarrowTensors(HeldArrays[Held]):
    """Tensors as they are stored: an access makes a float32 array of one that is narrower."""


def bfloat16_bits(tensor: Float[np.ndarray, "*shape"]) -> UInt16[np.ndarray, "*shape"]:
    """The upper 16 bits, to nearest, ties to even."""
    bits = np.ascontiguousarray(tensor, dtype=np.float32).view(np.uint32)
    return ((bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)).astype(np.uint16)


def quantized(
    matrix: Float[np.ndarray, "rows inner"],
) -> tuple[Int[np.ndarray, "rows inner"], Float[np.ndarray, "rows 1"]]:
    """Each row as whole numbers from -127 to 127, and the size of its step: `quantize_weight` of `ops/product.py`."""
    matrix = np.ascontiguousarray(matrix, dtype=np.float32)
    steps = np.abs(matrix).max(axis=1, keepdims=True) / np.float32(_STEPS)
    steps = ((steps.view(np.uint32) + _ZERO_BITS) & ~_ZERO_BITS).view(np.float32)
    whole = np.divide(matrix, steps, out=np.zeros_like(matrix), where=steps > 0)
    return np.rint(whole).astype(np.int8), steps


def are_quantized(whole: Int[np.ndarray, "rows inner"], steps: Float[np.ndarray, "rows 1"]) -> bool:
    """Whether `quantized` would make just these integers and steps of the values that they represent."""
    largest = np.maximum(whole.max(axis=1, initial=0), -whole.min(axis=1, initial=0).astype(np.int16))
    expected = np.where(steps[:, 0] > 0, _STEPS, 0)
    return bool((largest == expected).all() and (steps >= 0).all() and not (steps.view(np.uint32) & _ZERO_BITS).any())
