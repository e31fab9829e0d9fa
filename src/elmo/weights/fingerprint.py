"""Fingerprints: SHA-256 over named tensors.

The fingerprint of tensors combines one digest per tensor, so that it can be computed while a file is read.
"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from elmo.errors import WeightFileError
from elmo.shapes import Shaped


def digest(tensor: Shaped[np.ndarray, "..."]) -> str:
    """SHA-256 (hexadecimal) over a tensor's type, shape and little-endian bytes."""
    array = np.asarray(tensor)
    dtype = array.dtype.newbyteorder("<")
    made = hashlib.sha256(f"{dtype.str}{array.shape}".encode())
    made.update(np.ascontiguousarray(array, dtype=dtype).reshape(-1).view(np.uint8).data)
    return made.hexdigest()


def combine(digests: Mapping[str, str]) -> str:
    """The fingerprint of tensors from the `digest` of each, by name; their order doesn't matter."""
    lines = "".join(f"{name}\n{digests[name]}\n" for name in sorted(digests))
    return text_hash(lines)


def fingerprint(tensors: Mapping[str, Shaped[np.ndarray, "..."]], words: Sequence[str] = ()) -> str:
    """SHA-256 (hexadecimal) over the names, types, shapes and bytes of `tensors`, and over the words of their rows."""
    digests = {name: digest(tensor) for name, tensor in tensors.items()}
    if words:
        digests["words"] = text_hash("\n".join(words))
    return combine(digests)


def text_hash(text: str) -> str:
    """SHA-256 (hexadecimal) over a text's UTF-8 bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def damaged_values(path: Path) -> WeightFileError:
    """The error for a file whose tensors don't have the fingerprint it states."""
    return WeightFileError(
        f"{path}: the tensors don't have the SHA-256 that was stored with them: the file was damaged or changed. Get "
        "it again, or write it with elmo.weights.native.write."
    )
