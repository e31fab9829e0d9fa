"""F1 over arguments by the rules of srl-eval.pl, the scorer of the shared task CoNLL-2005. Percentages.

1. A span "C-X" continues the latest argument X before it: both are pieces of one argument, which reaches to the new
   end. Without an X before it, it is an argument X itself. "R-X" is a label of its own.
2. A predicted argument is correct if a gold argument has the same label, first and last token and pieces. All other
   predicted arguments are excess, all other gold arguments missed.
3. The predicates' own spans, "V", are not arguments.
4. Precision, recall and F1 are of the sums over all propositions; a proposition is perfect if nothing is excess or
   missed in it.
5. A span inside another one (no tagger predicts that, but files may hold it) makes the outer one another argument, one
   with pieces.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Literal, NamedTuple

from elmo.tasks.counts import added, compared, percentage, precision_recall_f1
from elmo.tasks.lines import reporting, require_same_sentences, skipping
from elmo.tasks.srl.columns import NOTHING, ColumnSentence, LayoutName, read_sentences_of_columns, spans_of_column
from elmo.tasks.srl.data import PREDICATE
from elmo.tasks.tags import Span
from elmo.tasks.task import Counts, Plain, Scores

_CONTINUATION = "C-"


class Argument(NamedTuple):
    """An argument, of one piece or several."""

    label: str
    start: int
    end: int
    """After its last token."""
    pieces: tuple[tuple[int, int], ...] = ()
    """(start, end) of each piece if there are several, or of the spans inside it."""


class Pair(NamedTuple):
    """The gold and the predicted spans of a predicate."""

    gold: Sequence[Span]
    predicted: Sequence[Span]
    kind: str = ""
    """What sort of predicate it is, to be scored by itself too, such as "verbs"; "": none."""


def arguments_of(spans: Iterable[Span]) -> list[Argument]:
    """The arguments that a predicate's spans make, by rules 1 and 5; that of "V" is among them."""
    found: list[Argument] = []
    latest: dict[str, int] = {}
    for start, end, label in sorted(spans, key=lambda span: (span[0], -span[1])):
        for number, outer in enumerate(found):
            if outer.start <= start and end <= outer.end:
                found[number] = outer._replace(pieces=(*outer.pieces, (start, end)))
        name = label.removeprefix(_CONTINUATION)
        if name != label and name in latest:
            head = found[latest[name]]
            pieces = head.pieces or ((head.start, head.end),)
            found[latest[name]] = Argument(name, head.start, end, (*pieces, (start, end)))
        else:
            latest[name] = len(found)
            found.append(Argument(name, start, end))
    return found


def proposition_counts(gold: Iterable[Span], predicted: Iterable[Span]) -> Counts:
    """(correct, excess, missed) arguments of each label of a proposition, "V" included."""
    return compared(arguments_of(gold), arguments_of(predicted), lambda argument: argument.label)


def argument_counts(pairs: Iterable[Pair]) -> Counts:
    """What the propositions of an example add to F1: the sums of `proposition_counts` without "V"."""
    sums = added(proposition_counts(pair.gold, pair.predicted) for pair in pairs)
    return {label: counts for label, counts in sums.items() if label != PREDICATE}


def role_scores(pairs: Sequence[Pair]) -> Scores:
    """Scores of propositions.

    `f1`, `precision`, `recall`, `correct`, `excess`, `missed` over all arguments; `propositions`, `perfect_props` in
    percent; `span_f1`, in which each "C-X" counts for itself; `unlabelled_f1`, in which labels don't count;
    `per_label`, with "V"; `per_predicate` for each kind of predicate.
    """
    counts = [proposition_counts(pair.gold, pair.predicted) for pair in pairs]
    sums = added(counts)
    perfect = sum(not any(part[1] or part[2] for label, part in own.items() if label != PREDICATE) for own in counts)
    scores: dict[str, Plain] = {
        **_figures(_overall(sums)),
        "propositions": len(pairs),
        "perfect_props": percentage(perfect, len(pairs)),
        "span_f1": _plain_f1(pairs, labelled=True),
        "unlabelled_f1": _plain_f1(pairs, labelled=False),
        "per_label": {label: _figures(sums[label]) for label in sorted(sums)},
    }
    kinds = sorted({pair.kind for pair in pairs} - {""})
    if kinds:
        scores["per_predicate"] = {
            kind: _figures(_overall(added(own for own, pair in zip(counts, pairs, strict=True) if pair.kind == kind)))
            for kind in kinds
        }
    return scores


def _overall(sums: Counts) -> list[float]:
    parts = [counts for label, counts in sums.items() if label != PREDICATE]
    return [sum(column) for column in zip((0, 0, 0), *parts, strict=True)]


def _plain_f1(pairs: Iterable[Pair], *, labelled: bool) -> float:
    def items(spans: Iterable[Span]) -> list[tuple[int | str, ...]]:
        return [span if labelled else span[:2] for span in spans if span[2] != PREDICATE]

    sums = added(compared(items(pair.gold), items(pair.predicted), lambda _: "") for pair in pairs)
    right, extra, missed = sums.get("", (0, 0, 0))
    return percentage(2 * right, 2 * right + extra + missed)


def _figures(counts: Sequence[float]) -> dict[str, float]:
    right, extra, missed = counts
    figures = precision_recall_f1(right, right + extra, right + missed)
    return {**figures, "correct": right, "excess": extra, "missed": missed}


def score_role_files(
    gold: Path | str,
    predicted: Path | str,
    layout: LayoutName | Literal["auto"],
    encoding: str,
    errors: Literal["strict", "skip"] = "strict",
) -> Scores:
    """`role_scores`, `sentences`, and two counts.

    `missing_propositions`: gold predicates without a column in the predicted file, all of whose arguments are missed;
    `unread_columns`: columns of the gold file without a predicate, which are ignored.
    Predicted predicates that the gold file doesn't have are ignored too. The two files may have different layouts.
    `errors`: "skip" leaves out gold sentences that can't be read, as 'elmo task predict --errors skip' does. Raises
    TextError with both files' lines for sentences of different lengths or words.
    """
    sentences = zip_longest(
        _gold_sentences(gold, layout, encoding, errors), read_sentences_of_columns(predicted, layout, encoding)
    )
    pairs: list[Pair] = []
    found: dict[str, int] = {"sentences": 0, "missing_propositions": 0, "unread_columns": 0}
    for right, other in sentences:
        right, other = _same_sentence(right, other)
        places = _predicates(right)
        own = dict(zip(places, right.columns, strict=False))
        # Equally many columns whose predicates aren't marked are taken in order: their "V" may be elsewhere.
        in_order = len(right.columns) == len(other.columns) == len(places) and len(other.marked) != len(other.columns)
        answers = dict(zip(places if in_order else _predicates(other), other.columns, strict=False))
        found["sentences"] += 1
        found["unread_columns"] += len(right.columns) - len(own)
        for place, cells in own.items():
            found["missing_propositions"] += place not in answers
            spans = spans_of_column(answers[place], other.places) if place in answers else []
            pairs.append(Pair(spans_of_column(cells, right.places), spans))
    scores: dict[str, Plain] = {**role_scores(pairs), **found}
    return scores


def _gold_sentences(
    path: Path | str, layout: LayoutName | Literal["auto"], encoding: str, errors: Literal["strict", "skip"]
) -> Iterator[ColumnSentence]:
    with skipping(path, errors) as on_bad:
        for sentence in read_sentences_of_columns(path, layout, encoding, on_bad):
            with reporting(on_bad, sentence.lines[0]):
                if on_bad:  # else the error comes when they are scored
                    for _, cells in zip(_predicates(sentence), sentence.columns, strict=False):
                        spans_of_column(cells, sentence.places)
                yield sentence


def _predicates(sentence: ColumnSentence) -> list[int]:
    sentence.require_columns()
    marked, columns = sentence.marked, sentence.columns
    if len(marked) == len(columns) or sentence.layout.name != "conll2012":
        return marked
    # The predicate column of conll2012 may lack some: there each column's own "V" says where its predicate is.
    spans = [spans_of_column(cells, sentence.places) for cells in columns]
    return [
        next((start for start, _, label in own if label == PREDICATE), -number) for number, own in enumerate(spans, 1)
    ]


def _same_sentence(right: ColumnSentence | None, other: ColumnSentence | None) -> tuple[ColumnSentence, ColumnSentence]:
    """Both; TextError if one is missing, or if they aren't the same sentence."""
    both = [one for one in (right, other) if one is not None]
    have_words = all(one.layout.name != "props" for one in both)
    gold, found = (
        [] if one is None else [(one.places[0], one.words if have_words else [NOTHING] * len(one.rows))]
        for one in (right, other)
    )
    require_same_sentences(gold, found)
    assert right is not None and other is not None
    return right, other
