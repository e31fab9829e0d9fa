"""What rules score, and whether a trained model is above them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from elmo.tasks.rules.rule import E, P, Rule


def rule_scores(
    rules: Sequence[Rule[E, P]],
    score: Callable[[Sequence[E], Sequence[P]], Mapping[str, Any]],
    metric: str,
    scored: Mapping[str, Sequence[E]],
) -> list[dict[str, Any]]:
    """Of each rule "rule" (its name), "label", the metric by data, and all "scores".

    `score`: of examples and predictions, a task's. `scored`: the examples by data, "dev" and "test".
    """
    found = []
    for rule in rules:
        scores = {name: score(examples, rule.predict(examples)) for name, examples in scored.items()}
        own = {name: figures[metric] for name, figures in scores.items()}
        found.append({"rule": rule.name, "label": rule.label, **own, "scores": scores})
    return found


def best_rule(rules: Sequence[Mapping[str, Any]], data: str) -> tuple[str, float] | None:
    """What the best of the rules on `data` does, and its score; None without rules for it.

    `rules`: as `rule_scores` gives them.
    """
    best = max((rule for rule in rules if data in rule), key=lambda rule: rule[data], default=None)
    return None if best is None else (best["label"].removeprefix("rule: "), best[data])


def remark_on_rules(rules: Sequence[Mapping[str, Any]], metric: str, mean: float, data: str = "dev") -> str | None:
    """A sentence if a rule reaches the mean score of trained models on `data`; None if they are above all rules."""
    best = best_rule(rules, data)
    if best is None or best[1] < mean:
        return None
    rule, score = best
    if score == mean == 0:
        return (
            f"neither the trained models nor any rule without learning find anything: {metric} is 0.00 on the {data} "
            "data. It may be too small to say anything; look at its labels before you train longer."
        )
    return (
        f'a rule without learning is as good: "{rule}" has {metric} {score:.2f} on the {data} data, the trained models '
        f"have {mean:.2f}. Train longer, on more data, with a higher learning rate or with less dropout before you "
        "compare anything with them."
    )
