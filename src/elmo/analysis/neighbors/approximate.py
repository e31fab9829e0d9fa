"""Approximate search in a layer of tens of millions of tokens, by FAISS: which tokens are worth comparing exactly.

    layer-1.faiss ...   for each layer but 0: inverted lists with a bit for each dimension of each token

The vectors are divided among so many lists as the square root of their number, and a search reads a part of the lists.
What it finds are candidates: their cosines are computed from the stored vectors. So a hit's cosine is exact, and what
may be missing are hits.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from elmo.errors import TextError
from elmo.process.extra_library import extra_library
from elmo.shapes import Float, Int

DEPTHS = (1024, 16_384)
"""Candidates that are compared; more only where the first don't hold enough hits."""
_LISTS_READ = 32
# FAISS asks for 39 vectors a list at least.
_SAMPLE_PER_LIST, _SMALLEST_SAMPLE = 64, 1024
_ROWS_AT_A_TIME = 1 << 16


def require_enough(tokens: int) -> None:
    """TextError for fewer tokens than FAISS can learn from."""
    if tokens < _SMALLEST_SAMPLE:
        raise TextError(
            f"the text has {tokens:,} tokens, but an approximate index learns from {_SMALLEST_SAMPLE:,} at least, and "
            "is of use from a million on. Leave out --approximate."
        )


def write_layer(layer: Float[np.ndarray, "tokens dim"], path: Path) -> None:
    """Writes the file of a layer, whose rows are unit vectors, enough of them. Raises MissingExtraError without
    FAISS."""
    faiss = require_library()
    tokens, dim = layer.shape
    lists = max(1, int(tokens**0.5))
    sample = max(_SMALLEST_SAMPLE, _SAMPLE_PER_LIST * lists)
    parts = dim // 4 if dim % 4 == 0 else dim  # of a vector, each of which is one of 16 values
    index = faiss.index_factory(dim, f"IVF{lists},PQ{parts}x4fs", faiss.METRIC_INNER_PRODUCT)
    chosen = np.sort(np.random.default_rng(0).permutation(tokens)[:sample])
    index.train(layer[chosen].astype(np.float32))
    for start in range(0, tokens, _ROWS_AT_A_TIME):
        index.add(layer[start : start + _ROWS_AT_A_TIME].astype(np.float32))
    faiss.write_index(index, str(path))


class Candidates:
    """The file of a layer, whose bytes have been checked. Any number of threads may search it."""

    def __init__(self, path: Path) -> None:
        """Raises MissingExtraError without FAISS."""
        self._index: Any = require_library().read_index(str(path))
        self._index.nprobe = _LISTS_READ

    def tokens(self, direction: Float[np.ndarray, " dim"]) -> Iterator[Int[np.ndarray, " tokens"]]:
        """The tokens near a direction; then, if they are not enough, more of them."""
        for depth in DEPTHS:
            _, found = self._index.search(direction[None], min(depth, self._index.ntotal))
            yield np.sort(found[0][found[0] >= 0])


def require_library() -> Any:
    """FAISS. Raises MissingExtraError without it."""
    return extra_library("faiss", "faiss", "approximate search in a context index")
