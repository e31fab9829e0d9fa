"""What classifies without learning: the most frequent label."""

from collections import Counter
from collections.abc import Sequence

from elmo.tasks.classification import Prediction
from elmo.tasks.rule import Rule
from elmo.tasks.sst.data import LabelledSentence


def rules_of(examples: Sequence[LabelledSentence]) -> list[Rule[LabelledSentence, Prediction]]:
    """The majority label of the training data's sentences for every sentence."""
    counts = Counter(example.label for example in examples)
    label = min(counts, key=lambda label: (-counts[label], label))
    shares = {other: count / counts.total() for other, count in sorted(counts.items())}
    return [
        Rule(
            "majority",
            f"rule: always the most frequent label ({label})",
            lambda sentences: [Prediction(label=label, probabilities=shares) for _ in sentences],
        )
    ]
