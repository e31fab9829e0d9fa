"""Arrays that begin at a cache line: instructions that read 64 bytes at once are slower across two lines."""

import math

import numpy as np
from numpy.typing import DTypeLike

_LINE = 64


def aligned(shape: int | tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
    """An array of that shape without values."""
    shape = (shape,) if isinstance(shape, int) else shape
    size = math.prod(shape) * np.dtype(dtype).itemsize
    room = np.empty(size + _LINE, np.uint8)
    start = -address(room) % _LINE
    return room[start : start + size].view(dtype).reshape(shape)


def address(array: np.ndarray) -> int:
    """Where an array's first value lies."""
    return array.__array_interface__["data"][0]


def address_or_none(array: np.ndarray | None) -> int | None:
    """`address`, or None for an array that isn't there."""
    return None if array is None else address(array)
