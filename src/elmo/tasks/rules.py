"""What can be predicted without training a network: the lowest lines that a trained one should be above."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from elmo.tasks.labels import L, Prediction
from elmo.tasks.task import E, P, Rule


def longest_runs(wanted: Iterable[bool], first: int = 0) -> Iterator[tuple[int, int]]:
    """The first and last place of each run of True that can't be longer. `first`: the place of the first value."""
    for is_wanted, run in groupby(enumerate(wanted, first), key=itemgetter(1)):
        if is_wanted:
            places = [place for place, _ in run]
            yield places[0], places[-1]


def most_frequent(counts: Counter[str]) -> str:
    """Of equally frequent ones the first in the alphabet; "" if there is none."""
    return min(counts, key=lambda label: (-counts[label], label), default="")


def majority_rule(examples: Sequence[L]) -> Rule[L, Prediction]:
    """The most frequent label of the training examples for every example; their shares are the probabilities."""
    counts = Counter(example.label for example in examples)
    label = most_frequent(counts)
    shares = {other: count / counts.total() for other, count in sorted(counts.items())}
    return Rule(
        "majority",
        f"rule: always the most frequent label ({label})",
        lambda others: [Prediction(label=label, probabilities=shares) for _ in others],
    )


def naive_bayes_rule(
    examples: Sequence[L],
    words_of: Callable[[L], Iterable[str]],
    *,
    name: str = "naive-bayes",
    label: str = "rule: naive Bayes on the words",
) -> Rule[L, Prediction]:
    """P(label) times the product of P(word | label) over an example's different words (multinomial, Laplace).

    Words that no training example has are left out.
    """
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    labels = Counter[str]()
    for example in examples:
        labels[example.label] += 1
        counts[example.label].update(set(words_of(example)))
    vocabulary = {word for own in counts.values() for word in own}
    totals = {one: own.total() + len(vocabulary) for one, own in counts.items()}

    def log_probability(one: str, words: set[str]) -> float:
        given = sum(math.log((counts[one][word] + 1) / totals[one]) for word in sorted(words))
        return math.log(labels[one] / labels.total()) + given

    def predicted(example: L) -> Prediction:
        words = set(words_of(example)) & vocabulary
        scores = {one: log_probability(one, words) for one in sorted(labels)}
        highest = max(scores.values())
        weights = {one: math.exp(score - highest) for one, score in scores.items()}
        ranked = sorted(weights, key=lambda one: -weights[one])
        total = sum(weights.values())
        shares = {one: weights[one] / total for one in ranked}
        return Prediction(label=ranked[0], probabilities=shares)

    return Rule(name, label, lambda others: [predicted(example) for example in others])


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


def remark_on_rules(rules: Sequence[Mapping[str, Any]], metric: str, mean: float) -> str | None:
    """A sentence if a rule reaches the mean dev score of trained models; None if they are above all rules."""
    best = best_rule(rules, "dev")
    if best is None or best[1] < mean:
        return None
    rule, score = best
    if score == mean == 0:
        return (
            f"neither the trained models nor any rule without learning finds anything: {metric} is 0.00 on the dev "
            "data. It may be too small to say anything; look at its labels before you train longer."
        )
    return (
        f'a rule without learning is at least as good: "{rule}" has {metric} {score:.2f} on the dev data, the trained '
        f"models have {mean:.2f}. Train longer, on more data, with a higher learning rate or with less dropout before "
        "you compare anything with them."
    )
