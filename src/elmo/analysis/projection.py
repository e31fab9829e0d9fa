"""Vectors on a plane: principal components, turned onto an earlier picture, and how much such a picture hides.

Principal components keep the two directions in which the vectors differ most. Each layer's picture may come out
mirrored or turned; orthogonal Procrustes (Schönemann 1966) turns one onto another without changing any distance.
"""

import numpy as np

from elmo.shapes import Float, Int

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
    points[:, :held] = left[:, :held] * values[:held]
    return points.astype(np.float32), float((values[:held] ** 2).sum() / total)


def turned_onto(
    points: Float[np.ndarray, "points 2"], earlier: Float[np.ndarray, "points 2"]
) -> Float[np.ndarray, "points 2"]:
    """The points turned or mirrored as a whole so that each lies as near as possible to where it was `earlier`."""
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
