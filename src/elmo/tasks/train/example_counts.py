"""Example counts: what each example adds to a metric, so that two systems can be compared example by example.

seed-1/dev.examples.json and test.examples.json of a run:

    {"metric": "f1", "kind": "f1", "examples": [{"LOC": [1, 0, 0], "PER": [0, 0, 1]}, {}, ...]}

One entry for each example, in the order of the data (examples of two runs on the same file pair up by position). What
the figures mean depends on the kind: see `elmo.tasks.counts`.
"""

import math
from collections.abc import Sequence
from typing import Any

from elmo.errors import ElmoError
from elmo.tasks.counts import score_of
from elmo.tasks.task import E, P, S, Scores, Task

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
    found, scored = score_of(task.metric_kind, rows), scores[task.metric]
    if not isinstance(scored, int | float) or not math.isclose(found, scored, abs_tol=_TOLERANCE):
        raise CountsDisagree(
            f"the counts of the task {task.name!r} add up to {task.metric} {found}, but its score says {scored}: one "
            "of the two is wrong. Correct the task's counts() or score()."
        )
    plain = [{label: list(values) for label, values in row.items()} for row in rows]
    return {"metric": task.metric, "kind": task.metric_kind, "examples": plain}
