"""What each view of the page shows, as values for JSON: neighbors, map, comparison, and words for a gap.

Each function rounds what the library gives; cosines keep four decimals.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from elmo.analysis.neighbors.occurrence_map import MapPoint, OccurrenceMap, Picture
from elmo.shapes import Float

if TYPE_CHECKING:
    from elmo.analysis.neighbors.context_index import Hit
    from elmo.lm.substitutes import Prediction

Marked = tuple[list[str], int]
"""A sentence's tokens and the place of one of them, from 0."""


class Near(msgspec.Struct):
    """A token of the index near the selected one."""

    tokens: Sequence[str]
    position: int
    cosine: float


class LayerNeighbors(msgspec.Struct):
    """The nearest tokens in one layer, nearest first."""

    other: list[Near]
    """Other words, each with its nearest occurrence."""
    same: list[Near]
    """Other occurrences of the same word."""


class Neighbors(msgspec.Struct):
    """One for each layer; with weights, one more for their mix."""

    layers: list[LayerNeighbors]


class MapLayer(msgspec.Struct):
    """The map as one layer has it; see `Picture`."""

    points: list[list[float]]
    variance: float | None
    kept: float
    nearest: list[list[int]]
    to_marks: list[list[float]]


class WordMap(msgspec.Struct):
    """The occurrences of the selected words; one picture for each layer, with weights one more."""

    points: list[MapPoint]
    """`mark`: 0 for A, 1 for B; null: from the index."""
    in_index: int
    seed: int
    layers: list[MapLayer]


class Similarity(msgspec.Struct):
    """Cosines of A's tokens (rows) with B's (columns), one table for each layer; with weights, one more."""

    layers: list[list[list[float]]]


class Substitutes(msgspec.Struct):
    """What is expected in a place by its left side, its right side and both; null: the model lacks that direction."""

    forward: "Prediction | None" = None
    backward: "Prediction | None" = None
    both: "Prediction | None" = None


def neighbors_view(layers: "Sequence[dict[str, list[Hit]]]") -> Neighbors:
    """What `neighbors` found in each layer."""
    return Neighbors([LayerNeighbors(_near(layer["other"]), _near(layer["same"])) for layer in layers])


def map_view(found: OccurrenceMap, seed: int) -> WordMap:
    """The occurrences on a plane, drawn with this seed."""
    return WordMap(found.occurrences, found.in_index, seed, list(map(_map_layer, found.layers)))


def compare_view(tables: Iterable[Float[np.ndarray, "rows columns"]]) -> Similarity:
    """Cosines of the tokens of two sentences."""
    return Similarity([_rounded(table) for table in tables])


def _near(hits: "list[Hit]") -> list[Near]:
    return [Near(hit.tokens, hit.position, round(hit.cosine, 4)) for hit in hits]


def _map_layer(picture: Picture) -> MapLayer:
    variance = None if picture.variance is None else round(picture.variance, 4)
    points, to_marks = _rounded(picture.points), _rounded(picture.to_marks)
    return MapLayer(points, variance, round(picture.kept, 2), picture.nearest.tolist(), to_marks)


def _rounded(table: Float[np.ndarray, "rows columns"]) -> list[list[float]]:
    return [[round(value, 4) for value in row] for row in table.tolist()]
