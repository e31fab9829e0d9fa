"""Example counts: what each example adds to a metric, so that two systems can be compared example by example.

seed-1/dev.examples.json and test.examples.json of a run:

    {"metric": "f1", "kind": "f1", "examples": [{"LOC": [1, 0, 0], "PER": [0, 0, 1]}, {}, ...]}

One entry for each example, in the order of the data (examples of two runs on the same file pair up by position). The
metric is a function of the entries' sums (`metric_of`), by `kind`:

    f1           {label: [true positives, false positives, false negatives]}: F1 over all labels
    accuracy     the same counts, each example having one label: true positives / (true positives + false negatives)
    mean         {"": [value]}: mean of the values
    average_f1   {measure: [precision numerator, denominator, recall numerator, denominator]}: mean of the measures' F1s

All results are percentages, except that a "mean" is of whatever its values are.
"""

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from elmo.errors import ElmoError
from elmo.tasks.task import Counts, E, MetricKind, P, S, Scores, Task

_TOLERANCE = 1e-6


class CountsDisagree(ElmoError):
    """A task's counts don't add up to its score: one of the two is wrong."""


def example_counts(
    task: Task[S, E, P], examples: Sequence[E], predictions: Sequence[P], scores: Scores
) -> dict[str, Any] | None:
    """What the file holds; None for a task without counts. Raises CountsDisagree if they don't give the score."""
    if task.metric_kind is None:
        return None
    rows = [task.counts(example, prediction) for example, prediction in zip(examples, predictions, strict=True)]
    found, scored = metric_of(task.metric_kind, rows), scores[task.metric]
    if not isinstance(scored, int | float) or not math.isclose(found, scored, abs_tol=_TOLERANCE):
        raise CountsDisagree(
            f"the counts of the task {task.name!r} add up to {task.metric} {found}, but its score says {scored}: one "
            "of the two is wrong. Correct the task's counts() or score()."
        )
    plain = [{label: list(values) for label, values in row.items()} for row in rows]
    return {"metric": task.metric, "kind": task.metric_kind, "examples": plain}


def metric_of(kind: MetricKind, rows: Iterable[Counts]) -> float:
    """The metric of examples with these counts."""
    if kind == "mean":
        values = [row[""][0] for row in rows]
        return statistics.fmean(values) if values else 0.0
    sums = added(rows)
    if kind == "average_f1":
        return statistics.fmean(_f1_of_ratios(*values) for values in sums.values()) if sums else 0.0
    right, extra, missed = (sum(values[place] for values in sums.values()) for place in range(3))
    if kind == "accuracy":
        return _percentage(right, right + missed)
    return _percentage(2 * right, 2 * right + extra + missed)


def added(rows: Iterable[Counts]) -> dict[str, list[float]]:
    """The sums of all rows, by label."""
    sums: dict[str, list[float]] = {}
    for row in rows:
        for label, values in row.items():
            old = sums.get(label, [0.0] * len(values))
            sums[label] = [one + other for one, other in zip(old, values, strict=True)]
    return sums


def _f1_of_ratios(p_part: float, p_whole: float, r_part: float, r_whole: float) -> float:
    precision, recall = _percentage(p_part, p_whole), _percentage(r_part, r_whole)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _percentage(part: float, whole: float) -> float:
    return 100 * part / whole if whole else 0.0
