"""Counts: what single examples add to a metric, as arrays, and the metric as a function of their sums.

`Task.counts` says what an example's counts are. All metrics are percentages, except that a "mean" is of whatever its
values are.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Float

from elmo.errors import ElmoError
from elmo.tasks.task import Counts, E, MetricKind, P, S, Scores, Task

Item = TypeVar("Item", bound=Hashable)


def percentage(part: float, whole: float) -> float:
    """0 if there is nothing."""
    return 100 * part / whole if whole else 0.0


def precision_recall_f1(correct: float, predicted: float, gold: float) -> dict[str, float]:
    """`f1`, `precision` and `recall` from the numbers of predicted, gold, and correctly predicted items."""
    return {
        "f1": percentage(2 * correct, gold + predicted),
        "precision": percentage(correct, predicted),
        "recall": percentage(correct, gold),
    }


def label_figures(gold: float, predicted: float, correct: float) -> dict[str, float]:
    """`precision_recall_f1`, and the three counts themselves."""
    return {**precision_recall_f1(correct, predicted, gold), "gold": gold, "predicted": predicted, "correct": correct}


Metric = Callable[[Float[np.ndarray, "... counts"]], Float[np.ndarray, "..."]]
"""Summed counts -> score."""

WIDTHS: dict[MetricKind, int] = {"f1": 3, "accuracy": 3, "mean": 1, "average_f1": 4}
"""How many figures each kind has for a label."""


def added(parts: Iterable[Counts]) -> dict[str, Sequence[float]]:
    """The sums of several counts, label by label."""
    sums: dict[str, Sequence[float]] = {}
    for part in parts:
        for label, values in part.items():
            sums[label] = tuple(map(sum, zip(sums[label], values, strict=True))) if label in sums else values
    return sums


def compared(gold: Iterable[Item], predicted: Iterable[Item], label_of: Callable[[Item], str]) -> Counts:
    """Of each label how many items are in both, in the predicted ones alone, and in the gold ones alone."""
    given, found = Counter(gold), Counter(predicted)
    parts = [Counter(map(label_of, part.elements())) for part in (given & found, found - given, given - found)]
    return {label: tuple(part[label] for part in parts) for label in sorted(set[str]().union(*parts))}


def score_of(kind: MetricKind, examples: Sequence[Counts]) -> float:
    """The metric of examples with these counts; 0 for none."""
    return float(metric_of(kind)(tabulated([examples], kind).sum(axis=1))[0]) if examples else 0.0


def tabulated(per_seed: Sequence[Sequence[Counts]], kind: MetricKind) -> Float[np.ndarray, "seeds examples counts"]:
    """The counts of every seed; the columns are those of each label in alphabetical order, then a 1 for the example."""
    labels = sorted({label for examples in per_seed for counts in examples for label in counts})
    columns = {label: place * WIDTHS[kind] for place, label in enumerate(labels)}
    found = np.zeros((len(per_seed), len(per_seed[0]), len(labels) * WIDTHS[kind] + 1))
    found[..., -1] = 1
    for seed, examples in enumerate(per_seed):
        for place, counts in enumerate(examples):
            for label, values in counts.items():
                found[seed, place, columns[label] : columns[label] + WIDTHS[kind]] = values
    return found


def metric_of(kind: MetricKind) -> Metric:
    """The metric of that kind as a function of summed counts, in the columns of `tabulated`."""
    metrics: dict[MetricKind, Metric] = {
        "f1": _micro_f1,
        "accuracy": _accuracy,
        "mean": _mean,
        "average_f1": _average_f1,
    }
    return metrics[kind]


def _by_label(counts: Float[np.ndarray, "... counts"], width: int) -> Float[np.ndarray, "... labels width"]:
    return counts[..., :-1].reshape(*counts.shape[:-1], -1, width)


def _percent(part: Float[np.ndarray, "*shape"], whole: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """0 where `whole` is 0."""
    return 100 * np.divide(part, whole, out=np.zeros_like(part, dtype=np.float64), where=whole > 0)


def _micro_f1(counts: Float[np.ndarray, "... counts"]) -> Float[np.ndarray, "..."]:
    found, invented, missed = np.moveaxis(_by_label(counts, 3).sum(axis=-2), -1, 0)
    return _percent(2 * found, 2 * found + invented + missed)


def _accuracy(counts: Float[np.ndarray, "... counts"]) -> Float[np.ndarray, "..."]:
    found = _by_label(counts, WIDTHS["accuracy"])[..., 0].sum(axis=-1)
    return _percent(found, labelled(counts))


def labelled(counts: Float[np.ndarray, "... counts"]) -> Float[np.ndarray, "..."]:
    """Of an accuracy, how many items have a label in the gold data: those found and those missed."""
    by_label = _by_label(counts, WIDTHS["accuracy"])
    return by_label[..., 0].sum(axis=-1) + by_label[..., 2].sum(axis=-1)


def _mean(counts: Float[np.ndarray, "... counts"]) -> Float[np.ndarray, "..."]:
    return counts[..., 0] / counts[..., -1]


def _average_f1(counts: Float[np.ndarray, "... counts"]) -> Float[np.ndarray, "..."]:
    right, predicted, recalled, gold = np.moveaxis(_by_label(counts, 4), -1, 0)
    precision, recall = _percent(right, predicted), _percent(recalled, gold)
    measures = _percent(2 * precision * recall / 100, precision + recall)
    return measures.sum(axis=-1) / max(1, measures.shape[-1])


_TOLERANCE = 1e-6


class CountsDisagree(ElmoError):
    """A task's counts don't add up to its score: one of the two is wrong."""


def example_counts(
    task: Task[S, E, P], examples: Sequence[E], predictions: Sequence[P], scores: Scores
) -> dict[str, Any] | None:
    """What dev.examples.json and test.examples.json of a seed hold: an entry per example, in the order of the data.

        {"metric": "f1", "kind": "f1", "examples": [{"LOC": [1, 0, 0], "PER": [0, 0, 1]}, {}, ...]}

    None for a task without counts. Raises CountsDisagree if they don't give the score.
    """
    if task.metric_kind is None:
        return None
    rows = [task.counts(example, prediction) for example, prediction in zip(examples, predictions, strict=True)]
    found, scored = score_of(task.metric_kind, rows), scores[task.metric]
    if not isinstance(scored, int | float) or not math.isclose(found, scored, abs_tol=_TOLERANCE):
        raise CountsDisagree(
            f"the counts of the task {task.name!r} add up to {task.metric} {found}, but its score says {scored}: one "
            "of the two is wrong. Correct the task's counts() or score()."
        )
    plain = [{label: list(values) for label, values in row.items()} for row in rows]
    return {"metric": task.metric, "kind": task.metric_kind, "examples": plain}
