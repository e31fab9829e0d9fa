"""What a task's rules score, and whether a trained model is above them."""

from collections.abc import Mapping, Sequence
from typing import Any

from elmo.tasks.task import E, P, S, Task


def rule_scores(task: Task[S, E, P], train: list[E], scored: Mapping[str, Sequence[E]]) -> list[dict[str, Any]]:
    """Of each rule made from the training examples "rule", "label", the task's metric by data, and all "scores"."""
    found = []
    for rule in task.rules(train):
        scores = {name: task.score(examples, rule.predict(examples)) for name, examples in scored.items()}
        metric = {name: task.figure(own, task.metric) for name, own in scores.items()}
        found.append({"rule": rule.name, "label": rule.label, **metric, "scores": scores})
    return found


def remark_on_rules(summary: Mapping[str, Any], data: str = "dev") -> str | None:
    """A sentence if a rule reaches the mean score of a training's seeds; None if they are above all rules.

    `summary`: what `train` returns.
    """
    best = max((rule for rule in summary["rules"] if data in rule), key=lambda rule: rule[data], default=None)
    if best is None or data not in summary or best[data] < summary[data]["mean"]:
        return None
    return (
        f'a rule without learning is as good: "{best["label"].removeprefix("rule: ")}" has {summary["metric"]} '
        f"{best[data]:.2f} on the {data} data, the trained models have {summary[data]['mean']:.2f}. Train longer, on "
        "more data, with a higher learning rate or with less dropout before you compare anything with them."
    )
