"""Similarity: cosines of vectors with vectors, which are nearest, and texts compared token by token."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from elmo.embed.results.pooling import normalized
from elmo.errors import ConfigError
from elmo.setting_checks import PositiveInt, require_value
from elmo.shapes import Float32, Int


def cosines(
    a: Float32[np.ndarray, "*layers a_tokens dim"], b: Float32[np.ndarray, "*layers b_tokens dim"]
) -> Float32[np.ndarray, "*layers a_tokens b_tokens"]:
    """Cosines between -1 and 1, in each layer by itself; a vector of zeros has cosine 0 with all."""
    return np.clip(normalized(a) @ normalized(b).swapaxes(-1, -2), -1, 1)


# Values of the matrix of cosines that are in memory at once.
_BLOCK = 1 << 24


def similarity(a: ArrayLike, b: ArrayLike | None = None) -> Float32[np.ndarray, "a b"]:
    """The cosine of each vector of `a`, (a, dim), with each of `b`, (b, dim) (default: with those of `a`), in float32.

    A single vector (dim,) counts as one row. A vector of zeros has cosine 0 with all. Raises ConfigError for arrays of
    other shapes and values that are not finite (NaN or inf).
    """
    first = _checked(a, "a")
    return cosines(first, first if b is None else _checked(b, "b", first.shape[1]))


def nearest(
    queries: ArrayLike, vectors: ArrayLike, k: int = 10
) -> tuple[Int[np.ndarray, "queries k"], Float32[np.ndarray, "queries k"]]:
    """For each query the rows of the `k` vectors with the largest cosines, and these cosines, the largest first.

    `queries`: (queries, dim), or (dim,) for one; `vectors`: (vectors, dim).
    Exact, by comparing all of them; of equal cosines the first row comes first. If there are fewer than `k` vectors,
    all are given. For millions of vectors use an index such as faiss. Raises ConfigError as `similarity` does, and if k
    is less than 1.
    """
    require_value("k", k, PositiveInt)
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


def maxsim(queries: Iterable[ArrayLike], documents: Iterable[ArrayLike]) -> Float32[np.ndarray, "queries documents"]:
    """How well each document answers each query, token by token (late interaction), in float32.

    The score is the sum, over the query's tokens, of the largest cosine with any token of the document: between minus
    and plus the number of the query's tokens. A query or document without tokens has score 0 with all.
    `queries`, `documents`: one array (tokens, dim) for each text, as `embed(sentences, "average")` returns them.
    Raises ConfigError for arrays of other shapes and values that are not finite (NaN or inf).
    """
    asked = _texts(queries, "queries")
    known = _texts(documents, "documents", asked[0].shape[1] if asked else None)
    scores = np.zeros((len(asked), len(known)), np.float32)
    rows = [row for row, query in enumerate(asked) if len(query)]
    if not rows:
        return scores
    together = normalized(np.concatenate([asked[row] for row in rows]))
    starts = np.cumsum([0, *(len(asked[row]) for row in rows[:-1])])
    for column, document in enumerate(known):
        if len(document):
            largest = np.clip((together @ normalized(document).T).max(axis=1), -1, 1)
            scores[rows, column] = np.add.reduceat(largest, starts, dtype=np.float64)
    return scores


def _texts(texts: Iterable[ArrayLike], name: str, dim: int | None = None) -> list[Float32[np.ndarray, "tokens dim"]]:
    """The texts, checked; all have the same dim."""
    found: list[np.ndarray] = []
    for place, text in enumerate(texts):
        rows = _checked(text, f"{name}[{place}]", dim)
        if np.ndim(text) < 2:
            raise ConfigError(
                f"{name}[{place}] must have the shape (tokens, dim), the vectors of one text (got {rows.shape[1:]}). "
                "Pass a list with an array for each text; of a single one [array]."
            )
        dim = rows.shape[1]
        found.append(rows)
    return found


def _checked(vectors: ArrayLike, name: str, dim: int | None = None) -> Float32[np.ndarray, "rows dim"]:
    """(rows, dim) finite float32."""
    array = np.atleast_2d(np.asarray(vectors, dtype=np.float32))
    is_fit = array.ndim == 2 and array.shape[1] and dim in (None, array.shape[1])
    if not is_fit or not np.isfinite(array).all():
        raise ConfigError(
            f"{name} must be finite vectors of the shape (rows, {dim or 'dim'}) (got {np.shape(vectors)}"
            f"{', with NaN or inf' * bool(is_fit)}). Choose one layer, as with layers='average', or one vector per "
            "sentence, as with pool='mean'; join the arrays of tokens with np.concatenate."
        )
    return array
