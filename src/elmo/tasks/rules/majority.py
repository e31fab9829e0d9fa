"""The rule that every task of classification has: always the most frequent label."""

from collections import Counter
from collections.abc import Callable, Sequence

from elmo.tasks.labels.classification import Prediction
from elmo.tasks.rules.rule import E, Rule


def majority_rule(examples: Sequence[E], label_of: Callable[[E], str]) -> Rule[E, Prediction]:
    """The most frequent label of the training examples for every example; their shares are the probabilities."""
    counts = Counter(label_of(example) for example in examples)
    label = min(counts, key=lambda label: (-counts[label], label))
    shares = {other: count / counts.total() for other, count in sorted(counts.items())}
    return Rule(
        "majority",
        f"rule: always the most frequent label ({label})",
        lambda others: [Prediction(label=label, probabilities=shares) for _ in others],
    )
