"""How alike the tokens of two sentences are, layer by layer: cosines of all pairs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from elmo.embed.results.similarity import cosines
from elmo.shapes import Float

if TYPE_CHECKING:
    from elmo.embed.embedder import Embedder


def token_similarity(
    embedder: "Embedder", a: Sequence[str], b: Sequence[str], weights: Sequence[float] | None = None
) -> Float[np.ndarray, "layers a b"]:
    """The cosine of every token of sentence `a` with every token of `b`, for each layer.

    With `weights`, one for each layer, there is one layer: the weighted sum of the layers.
    """
    edge = 1 if embedder.keep_boundaries else 0
    one, other = (array[:, edge : array.shape[1] - edge] for array in _layers_of(embedder, [list(a), list(b)], weights))
    return cosines(one, other)


def _layers_of(
    embedder: "Embedder", sentences: list[list[str]], weights: Sequence[float] | None
) -> list[Float[np.ndarray, "layers tokens dim"]]:
    if weights is None:
        return embedder.embed(sentences)
    return [array[None] for array in embedder.embed(sentences, layers=list(weights))]
