"""Answers against keys: precision, recall and F1 as in Raganato et al. 2017, with intervals over documents.

An instance is right if its answer is one of its keys. Precision counts answered instances only, recall all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from elmo_paper.analysis.measures import between

DRAWS = 2000


Figures = dict[str, float]
"""`instances`, `answered` and `correct`; `precision`, `recall` and `f1` in percent."""


@dataclass(frozen=True)
class Judged:
    """One test instance, for resampling."""

    document: str
    keys: tuple[str, ...]


def score(judged: Sequence[Judged], answers: Sequence[str | None]) -> Figures:
    """`answers`: one for each instance, None for no answer."""
    correct = sum(answer in one.keys for one, answer in zip(judged, answers, strict=True))
    instances, answered = len(judged), sum(answer is not None for answer in answers)
    return {
        "instances": instances,
        "answered": answered,
        "correct": correct,
        "precision": _percent(correct, answered),
        "recall": _percent(correct, instances),
        "f1": _percent(2 * correct, instances + answered),
    }


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


def paired_interval(
    judged: Sequence[Judged], answers: Sequence[str | None], others: Sequence[str | None]
) -> tuple[float, float]:
    """The 95 % interval of the difference in F1 between two systems, by drawing documents with replacement.

    Instances of one document share topic and author, so documents are what varies independently. With few documents
    the interval is a rough one; one alone says no more than that the difference is between -100 and 100.
    """
    table = _counts(judged, answers, others)
    if len(table) < 2:
        return -100.0, 100.0
    random = np.random.default_rng(0)
    drawn = table[random.integers(len(table), size=(DRAWS, len(table)))].sum(axis=1)
    instances, answered, correct, other_answered, other_correct = drawn.T
    differences = 200 * (correct / (instances + answered) - other_correct / (instances + other_answered))
    return between(differences)


def _counts(
    judged: Sequence[Judged], answers: Sequence[str | None], others: Sequence[str | None]
) -> Float[np.ndarray, "documents 5"]:
    """Instances, answered and correct of the one system, answered and correct of the other."""
    rows: dict[str, np.ndarray] = {}
    for one, answer, other in zip(judged, answers, others, strict=True):
        row = rows.setdefault(one.document, np.zeros(5))
        row += (1, answer is not None, answer in one.keys, other is not None, other in one.keys)
    return np.array(list(rows.values()))
