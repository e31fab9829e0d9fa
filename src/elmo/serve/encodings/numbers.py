"""An array inside JSON: nested lists of numbers, or base64 of its bytes."""

import base64
from typing import Literal

import msgspec
import numpy as np
from jaxtyping import Float32

Encoding = Literal["float", "base64"]

Numbers = list[float | list[float | list[float]]]
"""The axes of an array as nested lists: (dim), (tokens, dim) or (layers, tokens, dim)."""


def encoded(array: Float32[np.ndarray, "*axes dim"], encoding: Encoding) -> str | msgspec.Raw:
    """As nested lists, ready as JSON, or as base64 of little-endian float32 in C order."""
    if encoding == "float":
        return msgspec.Raw(_numbers(array))
    return base64.b64encode(np.ascontiguousarray(array, "<f4").data).decode("ascii")


def _numbers(array: Float32[np.ndarray, "*axes dim"]) -> bytes:
    """Vector by vector: other threads run in between, which one call for a large array would not allow."""
    if array.ndim == 1:
        return msgspec.json.encode(array.tolist())
    return b"[" + b",".join(map(_numbers, array)) + b"]"
