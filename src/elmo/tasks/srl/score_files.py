"""Scores of a file of predicted columns against a gold one, as srl-eval.pl gives them for two props files."""

from itertools import zip_longest
from pathlib import Path
from typing import Literal

from elmo.errors import TextError
from elmo.tasks.srl.brackets import spans_of_column
from elmo.tasks.srl.columns import ColumnSentence, LayoutName, read_sentences_of_columns
from elmo.tasks.srl.score import Pair, role_scores
from elmo.tasks.task import Plain, Scores


def score_role_files(
    gold: Path | str, predicted: Path | str, layout: LayoutName | Literal["auto"], encoding: str
) -> Scores:
    """`role_scores`, `sentences`, and two counts.

    `missing_propositions`: gold predicates without a column in the predicted file, all of whose arguments are missed;
    `unread_columns`: columns of the gold file without a predicate, which are ignored.
    Predicted predicates that the gold file doesn't have are ignored too. The two files may have different layouts.
    Raises TextError with both files' lines for sentences of different lengths or words.
    """
    sentences = zip_longest(
        read_sentences_of_columns(gold, layout, encoding), read_sentences_of_columns(predicted, layout, encoding)
    )
    pairs: list[Pair] = []
    found: dict[str, int] = {"sentences": 0, "missing_propositions": 0, "unread_columns": 0}
    for right, other in sentences:
        right, other = _same_sentence(right, other, gold, predicted)
        places = _predicates(right)
        own = dict(zip(places, right.columns, strict=False))
        # Of equally many columns each is for the same predicate, also where the predicted "V" is elsewhere.
        matched = len(right.columns) == len(other.columns) == len(places)
        answers = dict(zip(places if matched else _predicates(other), other.columns, strict=False))
        found["sentences"] += 1
        found["unread_columns"] += len(right.columns) - len(own)
        for place, cells in own.items():
            found["missing_propositions"] += place not in answers
            spans = spans_of_column(answers[place], other.places) if place in answers else []
            pairs.append(Pair(spans_of_column(cells, right.places), spans))
    scores: dict[str, Plain] = {**role_scores(pairs), **found}
    return scores


def _predicates(sentence: ColumnSentence) -> list[int]:
    """The token of each column's predicate."""
    marked, columns = sentence.marked, sentence.columns
    if len(marked) > len(columns):
        place = sentence.places[marked[len(columns)]]
        raise TextError(
            f"{place}: the sentence has {len(marked)} predicates, but only {len(columns)} columns of roles. Every "
            "predicate needs a column, in the order of the tokens. Fix the sentence."
        )
    if len(marked) == len(columns) or sentence.layout.name != "conll2012":
        return marked
    # The predicate column of conll2012 may lack some: there each column's own "V" says where its predicate is.
    spans = [spans_of_column(cells, sentence.places) for cells in columns]
    return [next((start for start, _, label in own if label == "V"), -number) for number, own in enumerate(spans, 1)]


def _same_sentence(
    right: ColumnSentence | None, other: ColumnSentence | None, gold: Path | str, predicted: Path | str
) -> tuple[ColumnSentence, ColumnSentence]:
    """Both; TextError if one is missing, or if they aren't the same sentence."""
    if right is None or other is None:
        longer, name = (right, predicted) if other is None else (other, gold)
        assert longer is not None
        raise TextError(
            f"{longer.places[0]}: has a sentence for which {name} has none left. Score predictions for exactly the "
            "gold file's sentences."
        )
    have_words = "props" not in (right.layout.name, other.layout.name)
    if len(right.rows) != len(other.rows) or (have_words and right.words != other.words):
        raise TextError(
            f"{other.places[0]}: the sentence of {len(other.rows)} tokens that begins here isn't the one of "
            f"{len(right.rows)} tokens at {right.places[0]}. Score predictions for exactly the gold file's sentences."
        )
    return right, other
