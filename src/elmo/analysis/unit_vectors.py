"""Unit vectors: what cosines are the products of."""

import numpy as np
from jaxtyping import Float


def unit(vectors: Float[np.ndarray, "... dim"]) -> Float[np.ndarray, "... dim"]:
    """Scaled to length 1; zeros stay zeros."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
