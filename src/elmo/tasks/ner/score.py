"""Entity F1 as conlleval computes it: an entity is found if its first token, last token and label are all right.

Source: the scorer of the shared task CoNLL-2003. Percentages; 0 where nothing is divided by nothing.
"""

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence

from elmo.tasks.counts import label_figures
from elmo.tasks.tags import Span
from elmo.tasks.task import Counts, Scores


def entity_scores(gold: Sequence[Sequence[Span]], predicted: Sequence[Sequence[Span]]) -> Scores:
    """`precision`, `recall`, `f1` over all entities; `macro_f1`, the mean F1 of the labels that occur in the gold data;
    the counts `gold`, `predicted` and `correct`; the same figures `per_label`."""
    found, given, right = Counter[str](), Counter[str](), Counter[str]()
    for own, other in zip(gold, predicted, strict=True):
        given.update(_labels(own))
        found.update(_labels(other))
        right.update(_labels(set(own) & set(other)))
    labels = sorted({*given, *found})
    per_label = {label: label_figures(given[label], found[label], right[label]) for label in labels}
    whole = label_figures(given.total(), found.total(), right.total())
    return {
        "f1": whole["f1"],
        "macro_f1": statistics.fmean(per_label[label]["f1"] for label in given) if given else 0.0,
        **whole,
        "per_label": per_label,
    }


def entity_counts(gold: Sequence[Span], predicted: Sequence[Span]) -> Counts:
    """One sentence's (found, wrongly found, missed) entities of each label."""
    right, extra, missed = (
        Counter(_labels(spans))
        for spans in (set(gold) & set(predicted), set(predicted) - set(gold), set(gold) - set(predicted))
    )
    return {label: (right[label], extra[label], missed[label]) for label in {**right, **extra, **missed}}


def _labels(spans: Iterable[Span]) -> list[str]:
    return [label for _, _, label in spans]
