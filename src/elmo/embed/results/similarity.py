"""Similarity: cosines of vectors with vectors, and which are nearest."""

import numpy as np
from numpy.typing import ArrayLike

from elmo.embed.results.pooling import normalized
from elmo.errors import ConfigError
from elmo.process.keywords import known_keywords
from elmo.shapes import Float32, Int


def cosines(
    a: Float32[np.ndarray, "*layers a_tokens dim"], b: Float32[np.ndarray, "*layers b_tokens dim"]
) -> Float32[np.ndarray, "*layers a_tokens b_tokens"]:
    """Cosines between -1 and 1, in each layer by itself; a vector of zeros has cosine 0 with all."""
    return np.clip(normalized(a) @ normalized(b).swapaxes(-1, -2), -1, 1)


# Values of the matrix of cosines that are in memory at once.
_BLOCK = 1 << 24


@known_keywords
def similarity(a: ArrayLike, b: ArrayLike | None = None) -> Float32[np.ndarray, "a b"]:
    """The cosine of each vector of `a`, (a, dim), with each of `b`, (b, dim) (default: with those of `a`), in float32.

    A single vector (dim,) counts as one row. A vector of zeros has cosine 0 with all. Raises ConfigError for arrays of
    other shapes and values that are not finite (NaN or inf).
    """
    first = _checked(a, "a")
    return cosines(first, first if b is None else _checked(b, "b", first.shape[1]))


@known_keywords
def nearest(
    queries: ArrayLike, vectors: ArrayLike, k: int = 10
) -> tuple[Int[np.ndarray, "queries k"], Float32[np.ndarray, "queries k"]]:
    """For each query the rows of the `k` vectors with the largest cosines, and these cosines, the largest first.

    `queries`: (queries, dim), or (dim,) for one; `vectors`: (vectors, dim).
    Exact, by comparing all of them; of equal ones the first row comes first. If there are fewer than `k` vectors, all
    are given. For millions of vectors use an index such as faiss. Raises ConfigError as `similarity` does,
    and if k is less than 1.
    """
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ConfigError(f"k, the number of vectors to find, must be an integer of at least 1 (got {k!r}).")
    asked = _checked(queries, "queries")
    known = normalized(_checked(vectors, "vectors", asked.shape[1]))
    count = min(int(k), len(known))
    rows = np.empty((len(asked), count), np.int64)
    found = np.empty((len(asked), count), np.float32)
    step = max(1, _BLOCK // max(1, len(known)))
    for start in range(0, len(asked), step):
        block = np.clip(normalized(asked[start : start + step]) @ known.T, -1, 1)
        order = np.argsort(-block, axis=1, kind="stable")[:, :count]
        rows[start : start + step] = order
        found[start : start + step] = np.take_along_axis(block, order, axis=1)
    return rows, found


def _checked(vectors: ArrayLike, name: str, dim: int | None = None) -> Float32[np.ndarray, "rows dim"]:
    """(rows, dim) finite float32."""
    try:
        given = np.asarray(vectors)
        if np.ma.isMaskedArray(vectors) or given.dtype.kind in "cmMSUV":  # what would get lost in float32
            what = "masked values" if np.ma.isMaskedArray(vectors) else f"values of type {given.dtype}"
            raise ConfigError(
                f"{name} must be an array (rows, dim) of real numbers without a mask (got {what}). Convert it first."
            )
        array = np.atleast_2d(np.asarray(given, dtype=np.float32))
    except ConfigError:
        raise
    except (TypeError, ValueError):
        raise ConfigError(
            f"{name} must be an array (rows, dim) (got {type(vectors).__name__}). Vectors of sentences come from "
            "embed(sentences, layers, pool='mean'); join the arrays of tokens with np.concatenate."
        ) from None
    if array.ndim != 2 or (dim is not None and array.shape[1] != dim):
        wanted = "(rows, dim)" if dim is None else f"(rows, {dim})"
        raise ConfigError(
            f"{name} must have the shape {wanted} (got {array.shape}). Choose one layer, as with layers='average'."
        )
    if not np.isfinite(array).all():
        raise ConfigError(f"{name} has values that are not finite (NaN or inf). Check how they were computed.")
    return array
