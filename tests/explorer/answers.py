"""What the views of the page show, by the library: the numbers that the page's own must be."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from types import SimpleNamespace

import numpy as np

from elmo.analysis.neighbors import query
from elmo.analysis.neighbors.context_index import Hit
from elmo.analysis.neighbors.occurrence_map import occurrence_map
from elmo.embed.results.similarity import cosines
from elmo.explorer.explored import Explored

Marked = tuple[list[str], int]
Weights = Sequence[float] | None


def neighbors(
    explored: Explored, one: Marked, count: int, weights: Weights, noun: str | None = None
) -> SimpleNamespace:
    found = query.neighbors(explored.index(), explored.model.embedder, *one, count, weights=weights, noun=noun)
    layers = [SimpleNamespace(**{which: _near(hits) for which, hits in layer.items()}) for layer in found]
    return SimpleNamespace(layers=layers)


def occurrences(explored: Explored, marked: Sequence[Marked], limit: int, weights: Weights) -> SimpleNamespace:
    found = occurrence_map(explored.index(), explored.model.embedder, marked, weights=weights, limit=limit, seed=0)
    layers = [
        SimpleNamespace(
            points=_rounded(one.points),
            variance=None if one.variance is None else round(one.variance, 4),
            kept=round(one.kept, 2),
            nearest=one.nearest.tolist(),
            to_marks=_rounded(one.to_marks),
        )
        for one in found.layers
    ]
    points = [SimpleNamespace(**asdict(point)) for point in found.occurrences]
    return SimpleNamespace(points=points, in_index=found.in_index, seed=0, layers=layers)


def similarity(explored: Explored, a: Sequence[str], b: Sequence[str], weights: Weights) -> SimpleNamespace:
    embed = explored.model.embedder.embed
    tables = [*cosines(*embed([a, b]))]
    if weights is not None:
        tables += [cosines(*embed([a, b], layers=weights))]
    return SimpleNamespace(layers=[_rounded(table) for table in tables])


def substitutes(explored: Explored, one: Marked, count: int) -> SimpleNamespace:
    found = explored.model.substitutes(*one, count)
    return SimpleNamespace(**{side: found.get(side) for side in ("forward", "backward", "both")})


def plain(answer: object) -> object:
    """As JSON."""
    return json.loads(json.dumps(answer, default=vars))


def _near(hits: Iterable[Hit]) -> list[SimpleNamespace]:
    return [SimpleNamespace(tokens=hit.tokens, position=hit.position, cosine=round(hit.cosine, 4)) for hit in hits]


def _rounded(table: np.ndarray) -> list[list[float]]:
    return [[round(value, 4) for value in row] for row in table.tolist()]
