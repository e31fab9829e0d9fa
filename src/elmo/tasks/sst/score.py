"""Accuracy: the share of sentences whose label was found. Percentages.

For the five labels of the treebank also `binary_accuracy`, its common second figure: of the sentences that aren't
neutral (2), the share for which 0 and 1 together, or 3 and 4 together, were rightly the more probable.
"""

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypedDict

from elmo.tasks.sst.trees import LABELS
from elmo.tasks.task import Counts, Plain, Scores


class Prediction(TypedDict):
    """A sentence's label: a plain dict, as in JSON."""

    label: str
    probabilities: dict[str, float]
    """Of every label, the most probable one first."""


def classification_scores(gold: Sequence[str], predicted: Sequence[Prediction]) -> Scores:
    """`accuracy`; `macro_f1`, the mean F1 of the gold labels; `binary_accuracy` if the labels are the treebank's;
    `sentences`. `per_label` has `precision`, `recall` and `f1`, the counts `gold`, `predicted` and `correct`, and
    `predicted_as`: how many sentences of this label were given which label."""
    labels = [prediction["label"] for prediction in predicted]
    predicted_as = {label: Counter[str]() for label in in_order({*gold, *labels})}
    for one, other in zip(gold, labels, strict=True):
        predicted_as[one][other] += 1
    correct = sum(counts[label] for label, counts in predicted_as.items())
    found = Counter(labels)
    figures = {label: _figures(sum(own.values()), found[label], own[label]) for label, own in predicted_as.items()}
    scores: dict[str, Plain] = {"accuracy": _percentage(correct, len(gold))}
    scores["macro_f1"] = statistics.fmean(figures[label]["f1"] for label in set(gold)) if gold else 0.0
    known = {*gold, *(label for prediction in predicted for label in prediction["probabilities"])}
    if known == set(LABELS) and all(prediction["probabilities"] for prediction in predicted):
        scores["binary_accuracy"] = _binary(gold, predicted)
    scores["sentences"] = len(gold)
    scores["per_label"] = {
        label: {**figures[label], "predicted_as": {other: own[other] for other in in_order(own)}}
        for label, own in predicted_as.items()
    }
    return scores


def classification_counts(gold: str, predicted: Prediction) -> Counts:
    """One sentence's (right, wrongly given, missed) of each label."""
    label = predicted["label"]
    return {gold: (1, 0, 0)} if gold == label else {label: (0, 1, 0), gold: (0, 0, 1)}


def in_order(labels: Iterable[str]) -> list[str]:
    """Labels in the order of their numbers if all are whole numbers, else by the alphabet."""
    distinct = set(labels)
    return sorted(distinct, key=int) if all(label.isdecimal() for label in distinct) else sorted(distinct)


def _binary(gold: Sequence[str], predicted: Sequence[Prediction]) -> float:
    correct = total = 0
    for label, prediction in zip(gold, predicted, strict=True):
        if label != "2":
            shares = prediction["probabilities"]
            positive = shares["3"] + shares["4"] > shares["0"] + shares["1"]
            correct += positive == (label in ("3", "4"))
            total += 1
    return _percentage(correct, total)


def _figures(gold: int, predicted: int, correct: int) -> dict[str, float]:
    return {
        "f1": _percentage(2 * correct, gold + predicted),
        "precision": _percentage(correct, predicted),
        "recall": _percentage(correct, gold),
        "gold": gold,
        "predicted": predicted,
        "correct": correct,
    }


def _percentage(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0
