"""Vectors as one safetensors file: tensor "0" for the first input, "1" for the second, and so on."""

from collections.abc import Mapping, Sequence

import numpy as np
from safetensors.numpy import save

from elmo.shapes import Float32


def safetensors_file(arrays: Sequence[Float32[np.ndarray, "..."]], facts: Mapping[str, str]) -> bytes:
    """The file's bytes. `facts` become the file's metadata."""
    tensors = {str(place): np.ascontiguousarray(array) for place, array in enumerate(arrays)}
    return save(tensors, dict(facts))
