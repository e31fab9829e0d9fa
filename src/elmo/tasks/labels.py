"""Labels: tasks whose examples have one label each, their scores, and whether labels can be learned."""

import statistics
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol, TypedDict, TypeVar

from elmo.errors import TextError
from elmo.tasks.counts import label_figures, percentage
from elmo.tasks.settings import TaskSettings
from elmo.tasks.task import Counts, Plain, S, Scores, Task, Vocabulary

_LABELS_SHOWN = 20
# So many labels may be distinct in a few examples.
_MOST_OF_FEW = 20


class Prediction(TypedDict):
    """An example's label: a plain dict, as in JSON."""

    label: str
    probabilities: dict[str, float]
    """Of every label, the most probable one first."""


class Labelled(Protocol):
    """An example with a label."""

    @property
    def label(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def line(self) -> int: ...


L = TypeVar("L", bound=Labelled)


def plain_prediction(prediction: Prediction) -> dict[str, Plain]:
    """A prediction for JSON."""
    return {"label": prediction["label"], "probabilities": prediction["probabilities"]}


class LabelTask(Task[S, L, Prediction]):
    """A task whose examples have one label each; predictions are labels with the probabilities of all."""

    metric = "accuracy"
    metric_kind = "accuracy"
    needs_input = True
    most_tokens = 8192
    kind = "sentence"
    """What an example is called."""
    other_column: str
    """How to say which column has the labels."""

    def vocabulary(self, examples: list[L], settings: S) -> Vocabulary:
        labels = [label for example in examples for label in self.labels_of(example)]
        require_learnable(labels, 2, examples[0].source, self.other_column)
        return {"labels": in_order(labels)}

    def labels_of(self, example: L) -> Iterable[str]:
        """The label of an example, and those of its parts."""
        return [example.label]

    def check(self, examples: list[L], vocabulary: Vocabulary, settings: S) -> None:
        labels = ((example.label, f"{example.source}:{example.line}") for example in examples)
        require_known_labels(labels, vocabulary["labels"], settings)

    def score(self, examples: Sequence[L], predictions: Sequence[Prediction]) -> Scores:
        return classification_scores([example.label for example in examples], predicted_labels(predictions))

    def counts(self, example: L, prediction: Prediction) -> Counts:
        return classification_counts(example.label, prediction["label"])

    def remarks(self, scores: Scores) -> list[str]:
        return remarks_on_one_label(scores, f"every {self.kind} is given the label")


def predicted_labels(predictions: Iterable[Prediction]) -> list[str]:
    """The label of each."""
    return [prediction["label"] for prediction in predictions]


def classification_scores(gold: Sequence[str], predicted: Sequence[str]) -> dict[str, Plain]:
    """`accuracy`; `macro_f1`, the mean F1 of the gold labels; `per_label`.

    For each label: `precision`, `recall`, `f1`, the counts `gold`, `predicted` and `correct`, and `predicted_as`: how
    many examples of this label were given which label.
    """
    predicted_as = {label: Counter[str]() for label in in_order({*gold, *predicted})}
    for one, other in zip(gold, predicted, strict=True):
        predicted_as[one][other] += 1
    correct = sum(counts[label] for label, counts in predicted_as.items())
    found = Counter(predicted)
    figures = {label: label_figures(sum(own.values()), found[label], own[label]) for label, own in predicted_as.items()}
    return {
        "accuracy": percentage(correct, len(gold)),
        "macro_f1": statistics.fmean(figures[label]["f1"] for label in set(gold)) if gold else 0.0,
        "per_label": {
            label: {**figures[label], "predicted_as": {other: own[other] for other in in_order(own)}}
            for label, own in predicted_as.items()
        },
    }


def classification_counts(gold: str, predicted: str) -> Counts:
    """One example's (right, wrongly given, missed) of each label."""
    return {gold: (1, 0, 0)} if gold == predicted else {predicted: (0, 1, 0), gold: (0, 0, 1)}


def remarks_on_one_label(scores: Scores, what: str) -> list[str]:
    """A remark if all predictions are one label, though the gold labels are several. `what`: how it begins."""
    per_label = scores["per_label"]
    assert isinstance(per_label, Mapping)
    found = [label for label, own in per_label.items() if isinstance(own, Mapping) and own["predicted"]]
    if len(per_label) < 2 or len(found) != 1:
        return []
    return [f"{what} {found[0]!r}: train longer, on more data, or with smaller batches"]


def require_known_labels(labels: Iterable[tuple[str, str]], known: Collection[str], settings: TaskSettings) -> None:
    """TextError for a label that no training example has, unless the settings let it count as missed.

    `labels`: each with its place (file and line).
    """
    if any(getattr(group, "unseen_labels", "") == "miss" for group in vars(settings).values()):
        return
    distinct = set(known)
    for label, place in labels:
        if label not in distinct:
            raise TextError(
                f"{place}: the label {label!r} isn't in the training data, which has {some_of(known)}: it can never be "
                "found. Fix it, or count it as missed with --unseen-labels miss."
            )


def require_learnable(labels: Sequence[str], least: int, source: str, step: str) -> None:
    """TextError unless the training data's labels are of `least` kinds, and not so many that they are likely texts."""
    distinct = set(labels)
    if not least <= len(distinct) <= max(_MOST_OF_FEW, len(labels) // 2):
        raise TextError(
            f"{source}: the training data have {len(labels):,} labels of {len(distinct):,} kinds ({some_of(distinct)})"
            f", so there is nothing to learn. {step}"
        )


def characters_of(words: Iterable[str], min_count: int = 1) -> list[str]:
    """The characters that occur at least `min_count` times in `words`, in a fixed order."""
    counts = Counter(character for word in words for character in word)
    return sorted(character for character, count in counts.items() if count >= min_count)


def some_of(labels: Collection[str]) -> str:
    """Labels in their order for a message: all of a few, else the first ones and the number of the others."""
    shown = in_order(labels)
    others = len(shown) - _LABELS_SHOWN
    return ", ".join(shown) if others <= 0 else f"{', '.join(shown[:_LABELS_SHOWN])} and {others:,} more"


def in_order(labels: Iterable[str]) -> list[str]:
    """Labels in the order of their numbers if all are whole numbers, else by the alphabet."""
    distinct = set(labels)
    # "1" and "01" are equal numbers, and sets have another order in every process.
    return (
        sorted(distinct, key=lambda label: (int(label), label))
        if all(label.isdecimal() for label in distinct)
        else sorted(distinct)
    )
