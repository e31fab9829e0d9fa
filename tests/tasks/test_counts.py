"""Counts of examples: their sums give the metric, of every kind."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo.tasks.columns import TaggedSentence
from elmo.tasks.counts import CountsDisagree, example_counts, score_of, tabulated
from elmo.tasks.ner.task import TASK, entity_counts, entity_scores


@pytest.mark.parametrize(
    ("kind", "examples", "score"),
    [
        ("f1", [{"PER": (1, 0, 0)}, {}, {"LOC": (0, 1, 1), "PER": (2, 1, 0)}], 200 * 3 / (2 * 3 + 2 + 1)),
        ("accuracy", [{"1": (1, 0, 0)}, {"1": (0, 0, 1), "2": (0, 1, 0)}, {"2": (1, 0, 0)}], 200 / 3),
        ("mean", [{"": (1.0,)}, {"": (0.25,)}], 0.625),
        ("average_f1", [{"muc": (3, 4, 3, 6), "b3": (2.5, 5, 2.5, 5)}], (2 * 75 * 50 / 125 + 50) / 2),
        # muc: 50 and 50; b3: 0
        ("average_f1", [{"muc": (1, 2, 1, 1), "b3": (0, 1, 0, 1)}, {"muc": (1, 2, 0, 1)}], 25),
        ("f1", [{"PER": (0, 0, 0)}], 0),
        ("accuracy", [{"PER": (0, 0, 0)}], 0),
    ],
)
def test_every_kind_of_metric_by_hand(kind, examples, score):
    assert score_of(kind, examples) == pytest.approx(score)
    assert score_of(kind, []) == 0
    assert kind == "mean" or score_of(kind, [{}, {}]) == 0


def test_seeds_share_the_columns_of_all_labels():
    found = tabulated([[{"B": (1, 0, 0)}], [{"A": (0, 1, 0)}]], "f1")
    np.testing.assert_array_equal(found, [[[0, 0, 0, 1, 0, 0, 1]], [[0, 1, 0, 0, 0, 0, 1]]])


SPANS = st.lists(st.tuples(st.integers(0, 3), st.integers(4, 5), st.sampled_from("AB")), unique=True, max_size=5)


@given(pairs=st.lists(st.tuples(SPANS, SPANS), max_size=8))
def test_entities_add_up_to_f1(pairs):
    scores = entity_scores([gold for gold, _ in pairs], [found for _, found in pairs])
    rows = [entity_counts(gold, found) for gold, found in pairs]
    assert score_of("f1", rows) == pytest.approx(scores["f1"])
    for label in {label for row in rows for label in row}:
        right, extra, missed = (sum(row.get(label, (0, 0, 0))[place] for row in rows) for place in range(3))
        own = scores["per_label"][label]
        assert (own["correct"], own["predicted"], own["gold"]) == (right, right + extra, right + missed)


def test_counts_that_dont_give_the_score_are_refused(monkeypatch):
    example, found = TaggedSentence(["a"], [(0, 1, "X")]), [(0, 1, "X")]
    scores = TASK.score([example], [found])
    assert example_counts(TASK, [example], [found], scores)["examples"] == [{"X": [1, 0, 0]}]
    with pytest.raises(CountsDisagree, match="add up to f1 100.0, but its score says 50"):
        example_counts(TASK, [example], [found], {"f1": 50.0})
