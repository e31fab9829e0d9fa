"""Pooling: the vectors of a sentence's tokens -> one vector for the sentence.

"mean"        the mean of the tokens' vectors
"max"         in each dimension the largest value of any token
"first"       the first token's vector
"last"        the last token's vector
"first_last"  the forward LM's half of the last token and the backward LM's half of the first one: both have read the
              whole sentence

The result of a sentence without tokens is zeros. With boundaries kept, <S> and </S> count as tokens.
"""

from typing import Literal

import numpy as np

from elmo.shapes import Float32

Pool = Literal["mean", "max", "first", "last", "first_last"]


def pooled(
    vectors: Float32[np.ndarray, "*layers tokens dim"], pool: Pool | None
) -> Float32[np.ndarray, "*layers dim"] | Float32[np.ndarray, "*layers tokens dim"]:
    """One vector for the sentence, in each layer; None: the vectors as they are."""
    if pool is None:
        return vectors
    if not vectors.shape[-2]:
        return np.zeros((*vectors.shape[:-2], vectors.shape[-1]), vectors.dtype)
    if pool == "mean":
        return vectors.mean(axis=-2, dtype=np.float64).astype(vectors.dtype)
    if pool == "max":
        return vectors.max(axis=-2)
    if pool == "first_last":
        half = vectors.shape[-1] // 2
        return np.concatenate([vectors[..., -1, :half], vectors[..., 0, half:]], axis=-1)
    return vectors[..., 0 if pool == "first" else -1, :].copy()


def normalized(vectors: Float32[np.ndarray, "*axes dim"]) -> Float32[np.ndarray, "*axes dim"]:
    """Each vector divided by its L2 norm, in float32; zeros stay zeros."""
    norms = np.sqrt(np.square(vectors, dtype=np.float64).sum(axis=-1, keepdims=True))
    return (vectors / np.where(norms == 0, 1, norms)).astype(np.float32)
