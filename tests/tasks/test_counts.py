"""Counts of examples: their sums give the metric, of every kind."""

import numpy as np
import pytest

from elmo.tasks.counts import score_of, tabulated


def test_f1_over_labels_that_are_not_everywhere():
    examples = [{"PER": (1, 0, 0)}, {}, {"LOC": (0, 1, 1), "PER": (2, 1, 0)}]
    assert score_of("f1", examples) == pytest.approx(200 * 3 / (2 * 3 + 2 + 1))


def test_accuracy_counts_each_example_once():
    examples = [{"1": (1, 0, 0)}, {"1": (0, 0, 1), "2": (0, 1, 0)}, {"2": (1, 0, 0)}]
    assert score_of("accuracy", examples) == pytest.approx(200 / 3)


def test_a_mean_is_of_whatever_the_values_are():
    assert score_of("mean", [{"": (1.0,)}, {"": (0.25,)}]) == pytest.approx(0.625)


def test_the_average_of_coreference_measures():
    examples = [{"muc": (3, 4, 3, 6), "b3": (2.5, 5, 2.5, 5)}]
    muc = 2 * 75 * 50 / 125
    assert score_of("average_f1", examples) == pytest.approx((muc + 50) / 2)


@pytest.mark.parametrize("kind", ["f1", "accuracy"])
def test_nothing_found_and_nothing_there_is_0(kind):
    assert score_of(kind, [{"PER": (0, 0, 0)}]) == 0


@pytest.mark.parametrize("kind", ["f1", "accuracy", "average_f1"])
def test_examples_without_counts_score_0(kind):
    assert score_of(kind, [{}, {}]) == score_of(kind, []) == 0


def test_seeds_share_the_columns_of_all_labels():
    found = tabulated([[{"B": (1, 0, 0)}], [{"A": (0, 1, 0)}]], "f1")
    np.testing.assert_array_equal(found, [[[0, 0, 0, 1, 0, 0, 1]], [[0, 1, 0, 0, 0, 0, 1]]])
