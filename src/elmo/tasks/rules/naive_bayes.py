"""Naive Bayes: a label by counting words. What a network must beat before anything may be said about its layers."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

from elmo.tasks.labels.classification import Prediction
from elmo.tasks.rules.rule import E, Rule


def naive_bayes_rule(
    examples: Sequence[E],
    label_of: Callable[[E], str],
    words_of: Callable[[E], Iterable[str]],
    *,
    name: str = "naive-bayes",
    label: str = "rule: naive Bayes on the words",
) -> Rule[E, Prediction]:
    """P(label) times the product of P(word | label) over an example's different words (multinomial, Laplace).

    Words that no training example has are left out.
    """
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    labels = Counter[str]()
    for example in examples:
        own_label = label_of(example)
        labels[own_label] += 1
        counts[own_label].update(set(words_of(example)))
    vocabulary = {word for own in counts.values() for word in own}
    totals = {one: own.total() + len(vocabulary) for one, own in counts.items()}

    def log_probability(one: str, words: set[str]) -> float:
        given = sum(math.log((counts[one][word] + 1) / totals[one]) for word in sorted(words))
        return math.log(labels[one] / labels.total()) + given

    def predicted(example: E) -> Prediction:
        words = set(words_of(example)) & vocabulary
        scores = {one: log_probability(one, words) for one in sorted(labels)}
        highest = max(scores.values())
        weights = {one: math.exp(score - highest) for one, score in scores.items()}
        ranked = sorted(weights, key=lambda one: -weights[one])
        total = sum(weights.values())
        shares = {one: weights[one] / total for one in ranked}
        return Prediction(label=ranked[0], probabilities=shares)

    return Rule(name, label, lambda others: [predicted(example) for example in others])
