"""How vectors travel: the media types of an answer, which of them a client takes, and how each is written.

An array in JSON is nested lists of numbers, or base64 of its bytes. A safetensors file has tensor "0" for the first
input, "1" for the second, and so on.
"""

import base64
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np
from safetensors.numpy import save

from elmo.shapes import Float32

JSON = "application/json"
SAFETENSORS = "application/vnd.elmo.safetensors"

VECTORS = (JSON, SAFETENSORS)
"""Of answers with vectors; the first is sent to a client that takes anything."""

Encoding = Literal["float", "base64"]

Numbers = list[float | list[float | list[float]]]
"""The axes of an array as nested lists: (dim), (tokens, dim) or (layers, tokens, dim)."""


def accepted(header: str) -> str:
    """The media type for an Accept header: safetensors for those who name it, JSON for all others."""
    ranges = {part.partition(";")[0].strip().lower() for part in header.split(",")}
    return SAFETENSORS if SAFETENSORS in ranges else JSON


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


def safetensors_file(arrays: Sequence[Float32[np.ndarray, "..."]], facts: Mapping[str, str]) -> bytes:
    """The file's bytes. `facts` become the file's metadata."""
    tensors = {str(place): np.ascontiguousarray(array) for place, array in enumerate(arrays)}
    return save(tensors, dict(facts))
