"""Accuracy: the share of sentences whose label was found. Percentages.

For the five labels of the treebank also `binary_accuracy`, its common second figure: of the sentences that aren't
neutral (2), the share for which 0 and 1 together, or 3 and 4 together, were rightly the more probable.
"""

from collections.abc import Sequence

from elmo.tasks.labels.classification import Prediction, classification_scores
from elmo.tasks.precision_recall import percentage
from elmo.tasks.sst.trees import LABELS
from elmo.tasks.task import Scores


def sentiment_scores(gold: Sequence[str], predicted: Sequence[Prediction]) -> Scores:
    """`classification_scores`, `sentences`, and `binary_accuracy` if the labels are the treebank's."""
    scores = classification_scores(gold, predicted)
    known = {*gold, *(label for prediction in predicted for label in prediction["probabilities"])}
    if known == set(LABELS) and all(prediction["probabilities"] for prediction in predicted):
        scores = {"accuracy": scores.pop("accuracy"), "binary_accuracy": _binary(gold, predicted), **scores}
    return {**scores, "sentences": len(gold)}


def _binary(gold: Sequence[str], predicted: Sequence[Prediction]) -> float:
    correct = total = 0
    for label, prediction in zip(gold, predicted, strict=True):
        if label != "2":
            shares = prediction["probabilities"]
            positive = shares["3"] + shares["4"] > shares["0"] + shares["1"]
            correct += positive == (label in ("3", "4"))
            total += 1
    return percentage(correct, total)
