"""Accuracy of a file of predicted labels: a pairID, a tab and a label on each line."""

from collections.abc import Sequence
from pathlib import Path

from elmo.errors import TextError
from elmo.tasks.labels.classification import Prediction, classification_scores
from elmo.tasks.labels.labelled_lines import labelled_lines
from elmo.tasks.snli.data import SentencePair
from elmo.tasks.task import Scores


def score_label_files(
    gold: Sequence[SentencePair], gold_name: Path | str, predicted: Path | str, encoding: str
) -> Scores:
    """`classification_scores` of the gold pairs. Predictions may be in any order; those for other pairs are ignored.

    Raises TextError with file and line for lines of another form, for a pair without a prediction or with two, and for
    two gold pairs of the same name.
    """
    _require_own_names(gold, gold_name)
    labels = _labels(predicted, encoding)
    answers = []
    for pair in gold:
        if pair.id not in labels:
            raise TextError(
                f"{predicted}: has no prediction for the pair {pair.id!r} of {gold_name}:{pair.line}. Predict exactly "
                "the gold file's pairs."
            )
        answers.append(Prediction(label=labels[pair.id], probabilities={}))
    return classification_scores([pair.label for pair in gold], answers)


def _require_own_names(gold: Sequence[SentencePair], gold_name: Path | str) -> None:
    lines: dict[str, int] = {}
    for pair in gold:
        if pair.id in lines:
            raise TextError(
                f"{gold_name}:{pair.line}: the pair has the name {pair.id!r} (its pairID, or else the number of its "
                f"line), as the one in line {lines[pair.id]} has, but predictions are matched by it. Give each pair a "
                "pairID of its own."
            )
        lines[pair.id] = pair.line


def _labels(path: Path | str, encoding: str) -> dict[str, str]:
    labels: dict[str, str] = {}
    for number, line in enumerate(labelled_lines(path, encoding), start=1):
        if not line.strip():
            continue
        name, tab, label = line.partition("\t")
        if not tab or not label.strip():
            raise TextError(
                f"{path}:{number}: has no label. Every line must be a pairID, a tab and a label; fix the line."
            )
        if labels.setdefault(name, label.strip()) != label.strip():
            raise TextError(f"{path}:{number}: a second prediction for the pair {name!r}, another one. Remove one.")
    return labels
