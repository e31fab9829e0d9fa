"""Arrays that begin at a cache line: instructions that read 64 bytes at once are slower across two lines."""

import math

import numpy as np
from numpy.typing import DTypeLike

from elmo.shapes import Shaped

_LINE = 64


def aligned(shape: int | tuple[int, ...], dtype: DTypeLike) -> Shaped[np.ndarray, "*shape"]:
    """An array of that shape without values."""
    shape = (shape,) if isinstance(shape, int) else shape
    size = math.prod(shape) * np.dtype(dtype).itemsize
    room = np.empty(size + _LINE, np.uint8)
    start = -address(room) % _LINE
    return room[start : start + size].view(dtype).reshape(shape)


def address(array: Shaped[np.ndarray, "..."]) -> int:
    """Where an array's first value lies."""
    return array.__array_interface__["data"][0]


def address_or_none(array: Shaped[np.ndarray, "..."] | None) -> int | None:
    """`address`, or None for an array that isn't there."""
    return None if array is None else address(array)
