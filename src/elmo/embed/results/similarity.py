"""Similarity: the cosine of every vector of one text with every vector of another."""

import numpy as np

from elmo.embed.results.pooling import normalized
from elmo.shapes import Float32


def cosines(
    a: Float32[np.ndarray, "*layers a_tokens dim"], b: Float32[np.ndarray, "*layers b_tokens dim"]
) -> Float32[np.ndarray, "*layers a_tokens b_tokens"]:
    """Cosines between -1 and 1, in each layer by itself; a vector of zeros has cosine 0 with all."""
    return np.clip(normalized(a) @ normalized(b).swapaxes(-1, -2), -1, 1)
