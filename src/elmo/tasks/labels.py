"""Scores of classification: examples that have one label each. Percentages."""

import statistics
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypedDict

from elmo.errors import TextError
from elmo.tasks.counts import percentage, precision_recall_f1
from elmo.tasks.task import Counts, Plain, Scores

_LABELS_SHOWN = 20
# So many labels may be those of a few examples.
_MOST_OF_FEW = 20
# The longest label that is likely to be one ("partly agrees with it"): texts have more words.
_MOST_WORDS = 4
# Characters of a label in a script without spaces.
_LONG_WORD = 15


class Prediction(TypedDict):
    """An example's label: a plain dict, as in JSON."""

    label: str
    probabilities: dict[str, float]
    """Of every label, the most probable one first."""


def classification_scores(gold: Sequence[str], predicted: Sequence[Prediction]) -> dict[str, Plain]:
    """`accuracy`; `macro_f1`, the mean F1 of the gold labels; `per_label`.

    For each label: `precision`, `recall`, `f1`, the counts `gold`, `predicted` and `correct`, and `predicted_as`: how
    many examples of this label were given which label.
    """
    labels = [prediction["label"] for prediction in predicted]
    predicted_as = {label: Counter[str]() for label in in_order({*gold, *labels})}
    for one, other in zip(gold, labels, strict=True):
        predicted_as[one][other] += 1
    correct = sum(counts[label] for label, counts in predicted_as.items())
    found = Counter(labels)
    figures = {label: _figures(sum(own.values()), found[label], own[label]) for label, own in predicted_as.items()}
    return {
        "accuracy": percentage(correct, len(gold)),
        "macro_f1": statistics.fmean(figures[label]["f1"] for label in set(gold)) if gold else 0.0,
        "per_label": {
            label: {**figures[label], "predicted_as": {other: own[other] for other in in_order(own)}}
            for label, own in predicted_as.items()
        },
    }


def classification_counts(gold: str, predicted: Prediction) -> Counts:
    """One example's (right, wrongly given, missed) of each label."""
    label = predicted["label"]
    return {gold: (1, 0, 0)} if gold == label else {label: (0, 1, 0), gold: (0, 0, 1)}


def only_label(scores: Scores) -> str | None:
    """The label that every example is given though the gold labels are several; None if there are others."""
    per_label = scores["per_label"]
    assert isinstance(per_label, Mapping)
    found = [label for label, own in per_label.items() if isinstance(own, Mapping) and own["predicted"]]
    return found[0] if len(per_label) > 1 and len(found) == 1 else None


def require_known_label(label: str, known: Collection[str], place: str) -> None:
    """TextError, with the example's `place` (file and line), for a label that no training example has."""
    if label not in known:
        raise TextError(
            f"{place}: the label {label!r} isn't in the training data, which has {some_of(known)}: it can never be "
            "found. Correct it, or count it as missed with --unseen-labels miss."
        )


def require_learnable(labels: Sequence[str], source: str, step: str) -> None:
    """TextError if the labels of all training examples are likely something else: hardly any occurs twice, or most of
    them are texts. `source`: the file; `step`: what to do then."""
    distinct = set(labels)
    if len(distinct) > _MOST_OF_FEW and 2 * len(distinct) > len(labels):
        raise TextError(
            f"{source}: there are {len(distinct):,} different labels ({some_of(distinct)}) for {len(labels):,} "
            f"examples, so hardly any occurs twice and nothing can be learned. {step}"
        )
    texts = sorted(label for label in distinct if len(label.split()) > _MOST_WORDS)
    if 2 * len(texts) > len(distinct):
        raise TextError(
            f"{source}: {len(texts):,} of the {len(distinct):,} different labels have more than {_MOST_WORDS} words "
            f"({texts[0][:60]!r}), so they are likely texts. {step}"
        )


def label_column_beside(rows: Sequence[Sequence[str]], column: int) -> int | None:
    """Another column, from 0, that looks like that of the labels, where `column` looks like texts; else None."""
    texts = [row[column] for row in rows]
    distinct = set(texts)
    # A premise stands in three pairs of SNLI, a label in many more.
    if 4 * len(distinct) <= len(texts) or 2 * sum(map(_is_like_text, distinct)) <= len(distinct):
        return None
    for other in range(min(map(len, rows))):
        values = [row[other] for row in rows]
        num_values = len(set(values))
        is_fewer = num_values <= len(distinct) and 2 * num_values <= len(values)
        if other != column and num_values > 1 and is_fewer and all(0 < len(value.split()) <= 2 for value in values):
            return other
    return None


def _is_like_text(value: str) -> bool:
    return len(value.split()) > 2 or len(value) > _LONG_WORD


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


def _figures(gold: int, predicted: int, correct: int) -> dict[str, float]:
    figures = precision_recall_f1(correct, predicted, gold)
    return {**figures, "gold": gold, "predicted": predicted, "correct": correct}
