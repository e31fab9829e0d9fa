"""What vectors are compared by: unit vectors, and the cosines of two sentences' tokens."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from elmo.embed.results.similarity import cosines
from elmo.shapes import Float

if TYPE_CHECKING:
    from elmo.embed.embedder import Embedder


def unit(vectors: Float[np.ndarray, "... dim"]) -> Float[np.ndarray, "... dim"]:
    """Scaled to length 1; zeros stay zeros."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


def token_similarity(
    embedder: "Embedder", a: Sequence[str], b: Sequence[str], weights: Sequence[float] | None = None
) -> Float[np.ndarray, "layers a b"]:
    """The cosine of every token of sentence `a` with every token of `b`, for each layer.

    With `weights`, one for each layer, there is one layer: the weighted sum of the layers.
    """
    edge = 1 if embedder.keep_boundaries else 0
    embedded = embedder.embed([list(a), list(b)], layers="all" if weights is None else list(weights))
    one, other = (np.atleast_3d(array.T).T[:, edge : array.shape[-2] - edge] for array in embedded)
    return cosines(one, other)
