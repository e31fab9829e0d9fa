"""Similarity: cosines of vectors with vectors, which are nearest, and texts compared token by token."""

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import repeat

import numpy as np
from numpy.typing import ArrayLike

from elmo.embed.results.pooling import normalized
from elmo.embed.windows import windows
from elmo.errors import ConfigError
from elmo.process.keywords import known_keywords
from elmo.setting_checks import PositiveInt, require_value
from elmo.shapes import Bool, Float32, Int


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


# Tokens of queries and of documents that are compared at once: the product then fits into the processor's cache.
_QUERY_TOKENS, _DOCUMENT_TOKENS = 1024, 512


@known_keywords
def maxsim(
    queries: Iterable[ArrayLike],
    documents: Iterable[ArrayLike],
    *,
    query_masks: Iterable[ArrayLike] | None = None,
    document_masks: Iterable[ArrayLike] | None = None,
) -> Float32[np.ndarray, "queries documents"]:
    """How well each document answers each query, token by token (late interaction), in float32.

    The score is the sum, over the query's tokens, of the largest cosine with any token of the document: between minus
    and plus the number of the query's tokens. A query or document without tokens has score 0 with all.
    `queries`, `documents`: one array (tokens, dim) for each text, as `embed(sentences, "average")` returns them; or
    one padded array (texts, tokens, dim), with a mask.
    `query_masks`, `document_masks`: for each text one bool for each token, True for those that count; or one array
    (texts, tokens). Default: all count.
    Exact. Compared in blocks: beside the arguments and the scores it takes less than 150 MB, for any number of arrays,
    of any type of numbers.
    Raises ConfigError for arrays of other shapes, masks that don't fit, and values that are not finite (NaN or inf).
    """
    asked = _texts(queries, "queries", query_masks)
    known = _texts(documents, "documents", document_masks, asked[0].dim if asked else None)
    scores = np.zeros((len(asked), len(known)), np.float32)
    for rows in _groups(asked, _QUERY_TOKENS):
        query = np.concatenate([normalized(asked[row].vectors()) for row in rows])
        most = max(1, min(_DOCUMENT_TOKENS, _BLOCK // len(query)))
        for columns in _groups(known, most):
            found = np.clip(_largest(query, [known[column] for column in columns], most), -1, 1)
            sums = np.add.reduceat(found, _starts([asked[row] for row in rows]), axis=0, dtype=np.float64)
            scores[np.ix_(rows, columns)] = sums
    return scores


class _Text:
    """The vectors of a text. They are made float32 and masked when they are compared: those of all may be much more."""

    def __init__(self, given: np.ndarray, counted: Bool[np.ndarray, " tokens"] | None) -> None:
        self._given, self._counted, self.dim = given, counted, given.shape[1]
        self._tokens = len(given) if counted is None else int(np.count_nonzero(counted))

    def __len__(self) -> int:
        return self._tokens

    def vectors(self) -> Float32[np.ndarray, "_ dim"]:
        """Those that count."""
        return np.asarray(self._given if self._counted is None else self._given[self._counted], dtype=np.float32)


def _groups(texts: Sequence[_Text], most: int) -> Iterator[list[int]]:
    """The places of texts that have tokens, in runs of at most so many tokens; a longer text is alone."""
    places = (place for place, text in enumerate(texts) if len(text))
    return windows(places, None, most, lambda place: len(texts[place]))


def _starts(texts: Sequence[_Text]) -> Int[np.ndarray, " texts"]:
    """The first row of each text, of all of them below each other."""
    return np.cumsum([0, *map(len, texts[:-1])])


def _largest(
    query: Float32[np.ndarray, "query_tokens dim"], documents: Sequence[_Text], most: int
) -> Float32[np.ndarray, "query_tokens documents"]:
    """The largest cosine of each token of the queries with any of each document's, `most` of these at a time."""
    if len(documents) > 1:
        vectors = np.concatenate([document.vectors() for document in documents])
        return np.maximum.reduceat(_cosines(query, vectors), _starts(documents), axis=1)
    document = documents[0].vectors()
    pieces = (document[start : start + most] for start in range(0, len(document), most))
    return reduce(np.maximum, (_cosines(query, piece).max(axis=1, keepdims=True) for piece in pieces))


def _cosines(units: Float32[np.ndarray, "a dim"], vectors: Float32[np.ndarray, "b dim"]) -> Float32[np.ndarray, "a b"]:
    """As `cosines` of unit vectors with any. A short query's product is fast; `normalized` would take longer."""
    squares = np.einsum("td,td->t", vectors, vectors)
    is_safe = (squares > 1e-20) & (squares < 1e20)  # else they may have lost digits, or be 0 or inf
    if not is_safe.all():
        vectors, squares = np.where(is_safe[:, None], vectors, normalized(vectors)), np.where(is_safe, squares, 1)
    return (units @ vectors.T) * (1 / np.sqrt(squares))


def _texts(
    texts: Iterable[ArrayLike], name: str, masks: Iterable[ArrayLike] | None, dim: int | None = None
) -> list[_Text]:
    """The texts, checked; all have the same dim."""
    found: list[_Text] = []
    given, masks = list(texts), None if masks is None else list(masks)
    if masks is not None and len(masks) != len(given):
        raise ConfigError(f"there are {len(given)} {name}, but {len(masks)} masks. Pass one mask for each.")
    for place, (text, mask) in enumerate(zip(given, masks or repeat(None), strict=False)):
        rows = _checked(text, f"{name}[{place}]", dim)
        if np.ndim(text) < 2:
            raise ConfigError(
                f"{name}[{place}] must have the shape (tokens, dim), the vectors of one text (got {rows.shape[1:]}). "
                "Pass a list with an array for each text; of a single one [array]."
            )
        dim = rows.shape[1]
        counted = None if mask is None else _counted(mask, len(rows), f"{name}[{place}]")
        found.append(_Text(text if type(text) is np.ndarray else rows, counted))
    return found


def _counted(mask: ArrayLike, tokens: int, name: str) -> Bool[np.ndarray, " tokens"]:
    checked = np.asarray(mask)
    # Masks of torch and of tokenizers are integers as often as not; 0.5 or 2 are no mask.
    if checked.shape != (tokens,) or not np.isin(checked, (0, 1)).all():
        raise ConfigError(
            f"the mask of {name} must have the shape ({tokens},): True for each token that counts, False for the "
            f"others (got shape {checked.shape}, type {checked.dtype})."
        )
    return checked.astype(bool)


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
    if array.ndim != 2 or not array.shape[1] or (dim is not None and array.shape[1] != dim):
        wanted = "(rows, dim)" if dim is None else f"(rows, {dim})"
        raise ConfigError(
            f"{name} must have the shape {wanted} (got {given.shape}). Choose one layer, as with layers='average'."
        )
    if not np.isfinite(array).all():
        raise ConfigError(f"{name} has values that are not finite (NaN or inf). Check how they were computed.")
    return array
