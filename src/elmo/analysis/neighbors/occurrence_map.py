"""All occurrences of a word in an index on a plane, one picture for each layer, and how far the pictures can be
trusted.

At layer 0 all occurrences of a word are one point, because that layer sees the word alone. Above it they move apart as
their sentences differ. Principal components keep the two directions in which the vectors differ most; since a layer's
picture may come out mirrored or turned, each is turned onto the one before by orthogonal Procrustes (Schönemann 1966),
which changes no distance.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elmo.analysis.neighbors.context_index import ContextIndex, LayerOrWeights, unit
from elmo.setting_checks import PositiveInt, Seed, require_value
from elmo.shapes import Float, Int, UInt64
from elmo.text.sentence_checks import require_place

if TYPE_CHECKING:
    from elmo.embed.embedder import Embedder

MOST_POINTS = 300
NEIGHBORS = 5


@dataclass(frozen=True)
class MapPoint:
    """One point: a token in its sentence."""

    tokens: tuple[str, ...]
    position: int
    mark: int | None
    """Which of the marked tokens it is, from 0; None: an occurrence from the index."""


@dataclass(frozen=True)
class Picture:
    """The occurrences on a plane, as one layer has them."""

    points: Float[np.ndarray, "points 2"]
    """On the scale of the unit vectors: two points 0.1 apart have vectors at least so far apart."""
    variance: float | None
    """Share of the vectors' variance that the plane holds, 0 to 1; None: all vectors are the same."""
    nearest: Int[np.ndarray, "points neighbors"]
    """The true neighbors of each point by cosine in all dimensions, the nearest first."""
    kept: float
    """How many of these are among a point's nearest on the plane, on average."""
    to_marks: Float[np.ndarray, "points marks"]
    """Cosine of each point to each marked token, in all dimensions."""


@dataclass(frozen=True)
class OccurrenceMap:
    """The occurrences of the marked words."""

    occurrences: list[MapPoint]
    """The marked tokens first, then those of the index."""
    in_index: int
    """Occurrences in the index; more than are shown if a sample was drawn."""
    layers: list[Picture]
    """One for each layer; with weights, one more for their mix."""


def occurrence_map(
    index: ContextIndex,
    embedder: "Embedder",
    marked: Sequence[tuple[Sequence[str], int]],
    *,
    weights: Sequence[float] | None = None,
    limit: int = MOST_POINTS,
    seed: int = 0,
) -> OccurrenceMap:
    """The marked tokens, each a sentence and a place in it, among all occurrences of the same words in the index.

    `limit`: occurrences shown at most; of more, a sample is drawn by `seed`. `weights`: a picture more, of the weighted
    sum of the layers. The marked sentences themselves are left out wherever the index has them.
    Raises ConfigError for a place outside its sentence, a limit below 1 and a negative seed.
    """
    for sentence, place in marked:
        require_place(sentence, place)
    require_value("limit", limit, PositiveInt)
    require_value("seed", seed, Seed)
    tokens, in_index = _occurrences(index, marked, limit, seed)
    places = [index.place(int(token)) for token in tokens]
    occurrences = [MapPoint(tuple(sentence), place, mark) for mark, (sentence, place) in enumerate(marked)]
    occurrences += [MapPoint(index.sentences[sentence], position, None) for sentence, position in places]
    choices: list[LayerOrWeights] = [*range(index.num_layers), *([] if weights is None else [list(weights)])]
    vectors = [np.concatenate([_marked(embedder, marked, it), index.vectors(tokens, it)]) for it in choices]
    return OccurrenceMap(occurrences, in_index, pictures(vectors, len(marked)))


def _occurrences(
    index: ContextIndex, marked: Sequence[tuple[Sequence[str], int]], limit: int, seed: int
) -> tuple[Int[np.ndarray, " shown"], int]:
    words = {sentence[place] for sentence, place in marked}
    own = {tuple(sentence) for sentence, _ in marked}
    found = np.sort(np.concatenate([index.occurrences(word) for word in sorted(words)]))
    found = np.array([token for token in found if index.sentences[index.place(int(token))[0]] not in own], np.int64)
    return found[drawn(len(found), limit, seed)], len(found)


def drawn(size: int, count: int, seed: int) -> Int[np.ndarray, " count"]:
    """`count` of the numbers below `size`, ascending: those whose 32 bits, stirred, are the smallest.

    In whole numbers alone, so that the page draws the same ones in JavaScript.
    """
    start = _stirred(np.array([seed & 0xFFFFFFFF], dtype=np.uint64))
    order = np.argsort(_stirred(np.arange(size, dtype=np.uint64) ^ start), kind="stable")
    return np.sort(order[:count])


def _stirred(values: UInt64[np.ndarray, " values"]) -> UInt64[np.ndarray, " values"]:
    """Every bit changed by every other, as in hash functions; different values stay different."""
    mask = np.uint64(0xFFFFFFFF)
    values = (values ^ values >> np.uint64(16)) * np.uint64(0x7FEB352D) & mask
    values = (values ^ values >> np.uint64(15)) * np.uint64(0x846CA68B) & mask
    return values ^ values >> np.uint64(16)


def _marked(
    embedder: "Embedder", marked: Sequence[tuple[Sequence[str], int]], layer: LayerOrWeights
) -> Float[np.ndarray, "marks dim"]:
    edge = 1 if embedder.keep_boundaries else 0
    arrays = embedder.embed([list(sentence) for sentence, _ in marked], layers=layer)
    return unit(np.stack([array[place + edge] for array, (_, place) in zip(arrays, marked, strict=True)]))


def pictures(layers: Sequence[Float[np.ndarray, "points dim"]], marks: int) -> list[Picture]:
    """A picture of each layer's unit vectors, turned onto the one before; the first `marks` are the marked tokens."""
    found: list[Picture] = []
    for vectors in layers:
        points, variance = plane(vectors)
        if found and variance is not None and found[-1].variance is not None:
            points = turned_onto(points, found[-1].points)
        true = nearest(vectors, NEIGHBORS)
        kept = neighbors_kept(true, nearest_on_plane(points, NEIGHBORS))
        found.append(Picture(points, variance, true, kept, vectors @ vectors[:marks].T))
    return found


# Below this sum of squares the vectors differ by rounding alone (float16 in an index), and have no main direction.
_ROUNDING = 1e-5


def plane(vectors: Float[np.ndarray, "points dim"]) -> tuple[Float[np.ndarray, "points 2"], float | None]:
    """The first two principal components of vectors, and the share of their variance that these hold, 0 to 1.

    None where all vectors are the same but for rounding: then all points are at the origin.
    """
    centered = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    total = float((centered**2).sum())
    if total <= _ROUNDING * len(vectors):
        return np.zeros((len(vectors), 2), dtype=np.float32), None
    left, values, _ = np.linalg.svd(centered, full_matrices=False)
    points = np.zeros((len(vectors), 2))
    held = min(2, len(values))
    # The sign of an axis is free: the point that is farthest along it is on its positive side.
    farthest = np.abs(left[:, :held]).argmax(axis=0)
    points[:, :held] = left[:, :held] * np.where(left[farthest, range(held)] < 0, -1, 1) * values[:held]
    return points.astype(np.float32), float((values[:held] ** 2).sum() / total)


def turned_onto(
    points: Float[np.ndarray, "points 2"], earlier: Float[np.ndarray, "points 2"]
) -> Float[np.ndarray, "points 2"]:
    """The points turned or mirrored as a whole so that each is as near as possible to its place in `earlier`."""
    left, _, right = np.linalg.svd(points.T.astype(np.float64) @ earlier)
    return (points @ (left @ right)).astype(np.float32)


def nearest(vectors: Float[np.ndarray, "points dim"], count: int) -> Int[np.ndarray, "points count"]:
    """For each unit vector the `count` others of highest cosine, the nearest first."""
    return _highest(vectors @ vectors.T, count)


def nearest_on_plane(points: Float[np.ndarray, "points 2"], count: int) -> Int[np.ndarray, "points count"]:
    """For each point the `count` others of smallest distance, the nearest first."""
    return _highest(-((points[:, None] - points[None]) ** 2).sum(axis=-1), count)


def neighbors_kept(true: Int[np.ndarray, "points count"], shown: Int[np.ndarray, "points count"]) -> float:
    """How many of a point's true neighbors are among those it is shown with, on average."""
    return float(np.mean([len(set(a) & set(b)) for a, b in zip(true.tolist(), shown.tolist(), strict=True)]))


def _highest(values: Float[np.ndarray, "points points"], count: int) -> Int[np.ndarray, "points count"]:
    values = values.copy()
    np.fill_diagonal(values, -np.inf)
    return np.argsort(-values, axis=1, kind="stable")[:, : max(0, min(count, len(values) - 1))]
