"""Entity F1 as conlleval computes it: an entity is found if its first token, last token and label are all right.

Source: the scorer of the shared task CoNLL-2003. Percentages; 0 where nothing is divided by nothing.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from elmo.tasks.ner.tags import Span


def entity_scores(gold: Sequence[Sequence[Span]], predicted: Sequence[Sequence[Span]]) -> dict[str, Any]:
    """`precision`, `recall`, `f1` over all entities; `gold`, `predicted`, `correct` counts; the same `per_label`."""
    found, given, right = Counter[str](), Counter[str](), Counter[str]()
    for own, other in zip(gold, predicted, strict=True):
        given.update(_labels(own))
        found.update(_labels(other))
        right.update(_labels(set(own) & set(other)))
    labels = sorted({*given, *found})
    return {
        **_figures(given.total(), found.total(), right.total()),
        "per_label": {label: _figures(given[label], found[label], right[label]) for label in labels},
    }


def _labels(spans: Iterable[Span]) -> list[str]:
    return [label for _, _, label in spans]


def _figures(gold: int, predicted: int, correct: int) -> dict[str, Any]:
    precision = 100 * correct / predicted if predicted else 0.0
    recall = 100 * correct / gold if gold else 0.0
    both = precision + recall
    f1 = 2 * precision * recall / both if both else 0.0
    return {
        "f1": f1,
        "precision": precision,
        "recall": recall,
        "gold": gold,
        "predicted": predicted,
        "correct": correct,
    }
