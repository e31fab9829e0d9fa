"""Differences, their spread, and what follows from both, against numbers worked out by hand."""

import math

import pytest

from elmo.reproduce.evidence import Difference, contrast, error_reduction, over_seeds


def test_the_spread_of_a_difference_is_the_root_of_the_sum_of_the_variances():
    one, other = ({"mean": mean, "standard_deviation": spread} for mean, spread in ((50.0, 3.0), (47.0, 4.0)))
    assert contrast([(1, one), (-1, other)]) == Difference(3.0, 5.0)
    four = contrast([(1, one), (-1, other), (-1, one), (1, other)])
    assert (four.mean, four.spread) == (0.0, pytest.approx(math.sqrt(50)))


def test_one_seed_shows_no_spread():
    one, other = ({"mean": mean, "standard_deviation": None} for mean in (50.0, 47.0))
    found = contrast([(1, one), (-1, other)])
    assert found == Difference(3.0, None)
    assert found.verdict() == "agrees by one seed"
    assert Difference(-3.0, None).verdict() == "does not agree by one seed"
    assert found.shown() == "+3.00, one seed shows no spread"


@pytest.mark.parametrize(
    ("mean", "spread", "verdict", "as_much"),
    [
        (1.3, 0.4, "agrees", "agrees"),
        (0.3, 0.4, "within the spread", "agrees"),
        (-0.3, 0.4, "within the spread", "agrees"),
        (-1.3, 0.4, "does not agree", "does not agree"),
        (0.4, 0.4, "within the spread", "agrees"),
    ],
)
def test_a_verdict_asks_whether_the_difference_exceeds_the_spread(mean, spread, verdict, as_much):
    assert Difference(mean, spread).verdict() == verdict
    assert Difference(mean, spread).verdict("as much") == as_much


def test_a_figure_that_each_seed_gives_has_the_sample_standard_deviation():
    assert over_seeds([1.0, 3.0, 5.0]) == Difference(3.0, 2.0)
    assert over_seeds([1.0]) == Difference(1.0, None)


def test_the_error_reduction_is_that_of_the_papers_table():
    assert error_reduction(90.15, 92.22) == pytest.approx(21.0, abs=0.05)
    assert error_reduction(51.4, 54.7) == pytest.approx(6.8, abs=0.05)
    assert error_reduction(50.0, 40.0) == -20.0
    assert error_reduction(100.0, 100.0) is None
