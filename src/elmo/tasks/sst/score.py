"""Accuracy: the share of sentences whose label was found. Percentages.

For the five labels of the treebank also `binary_accuracy`, its common second figure: of the sentences that aren't
neutral (2), the share for which 0 and 1 together, or 3 and 4 together, were rightly held more probable.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, TypedDict

from elmo.tasks.sst.trees import LABELS


class Prediction(TypedDict):
    """What a sentence is held for: a plain dict, as it stands in JSON."""

    label: str
    probabilities: dict[str, float]
    """Of every label."""


def classification_scores(gold: Sequence[str], predicted: Sequence[Prediction]) -> dict[str, Any]:
    """`accuracy`, `binary_accuracy` if the labels are the treebank's, `sentences`; `per_label` its `precision`,
    `recall` and `f1`, the counts `gold`, `predicted`, `correct`, and `found_as`: how often it was held for which."""
    labels = [prediction["label"] for prediction in predicted]
    found_as: dict[str, Counter[str]] = {label: Counter() for label in sorted({*gold, *labels})}
    for one, other in zip(gold, labels, strict=True):
        found_as[one][other] += 1
    correct = sum(counts[label] for label, counts in found_as.items())
    scores: dict[str, Any] = {"accuracy": _percentage(correct, len(gold))}
    known = {*gold, *(label for prediction in predicted for label in prediction["probabilities"])}
    if known == set(LABELS):
        scores["binary_accuracy"] = _binary(gold, predicted)
    scores["sentences"] = len(gold)
    found = Counter(labels)
    scores["per_label"] = {
        label: {**_figures(counts.total(), found[label], counts[label]), "found_as": dict(sorted(counts.items()))}
        for label, counts in found_as.items()
    }
    return scores


def _binary(gold: Sequence[str], predicted: Sequence[Prediction]) -> float:
    correct = total = 0
    for label, prediction in zip(gold, predicted, strict=True):
        if label != "2":
            shares = prediction["probabilities"]
            positive = shares["3"] + shares["4"] > shares["0"] + shares["1"]
            correct += positive == (label in ("3", "4"))
            total += 1
    return _percentage(correct, total)


def _figures(gold: int, predicted: int, correct: int) -> dict[str, Any]:
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
