"""Counts: what single test examples add to a metric, as arrays, and the metric as a function of their sums.

A task gives a mapping for each example, whose meaning depends on the task's kind of metric:

    "f1", "accuracy"   {label: (true positives, false positives, false negatives)}
    "mean"             {"": (value,)}, such as the exact match or the F1 of one answer; the metric is their mean
    "average_f1"       {measure: (numerator and denominator of precision, numerator and denominator of recall)}

"macro_f1" is the mean of the labels' F1, from the same counts as "f1".
"""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float

from elmo.reproduce.verdicts.bootstrap import Metric

ExampleCounts = Mapping[str, Sequence[float]]

WIDTHS = {"f1": 3, "macro_f1": 3, "accuracy": 3, "mean": 1, "average_f1": 4}
"""How many figures each kind has for a label."""


def tabulated(per_seed: Sequence[Sequence[ExampleCounts]], kind: str) -> Float[np.ndarray, "seeds examples counts"]:
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


def metric_of(kind: str) -> Metric:
    """The metric of that kind as a function of summed counts, in the columns of `tabulated`; percentages."""
    return {
        "f1": _micro_f1,
        "macro_f1": _macro_f1,
        "accuracy": _accuracy,
        "mean": _mean,
        "average_f1": _average_f1,
    }[kind]


def _by_label(counts: Float[np.ndarray, "... counts"], width: int) -> Float[np.ndarray, "... labels width"]:
    return counts[..., :-1].reshape(*counts.shape[:-1], -1, width)


def _percent(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """0 where `whole` is 0."""
    return 100 * np.divide(part, whole, out=np.zeros_like(part, dtype=np.float64), where=whole > 0)


def _micro_f1(counts: Float[np.ndarray, "... counts"]) -> Float[np.ndarray, "..."]:
    found, invented, missed = np.moveaxis(_by_label(counts, 3).sum(axis=-2), -1, 0)
    return _percent(2 * found, 2 * found + invented + missed)


def _macro_f1(counts: Float[np.ndarray, "... counts"]) -> Float[np.ndarray, "..."]:
    found, invented, missed = np.moveaxis(_by_label(counts, 3), -1, 0)
    return _percent(2 * found, 2 * found + invented + missed).mean(axis=-1)


def _accuracy(counts: Float[np.ndarray, "... counts"]) -> Float[np.ndarray, "..."]:
    found, _, missed = np.moveaxis(_by_label(counts, 3).sum(axis=-2), -1, 0)
    return _percent(found, found + missed)


def _mean(counts: Float[np.ndarray, "... counts"]) -> Float[np.ndarray, "..."]:
    return counts[..., 0] / counts[..., -1]


def _average_f1(counts: Float[np.ndarray, "... counts"]) -> Float[np.ndarray, "..."]:
    right, predicted, recalled, gold = np.moveaxis(_by_label(counts, 4), -1, 0)
    precision, recall = _percent(right, predicted), _percent(recalled, gold)
    return _percent(2 * precision * recall / 100, precision + recall).mean(axis=-1)
