"""Differences, their errors and intervals, against figures worked out by hand and by scipy."""

import math

import numpy as np
import pytest

from elmo.reproduce.verdicts.difference import Difference, Scored, contrast, error_reduction, over_seeds


def scored(*scores, resampled=None, units=0) -> Scored:
    return Scored(np.array(scores, float), resampled, units)


def test_without_examples_it_is_welchs_test():
    stats = pytest.importorskip("scipy.stats")
    better, worse = (68.56, 69.85, 69.85), (65.38, 67.23, 66.48)
    expected = stats.ttest_ind(better, worse, equal_var=False)
    found = contrast([(1, scored(*better)), (-1, scored(*worse))])
    assert found.mean == pytest.approx(3.0567, abs=1e-4)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert found.interval == pytest.approx(tuple(expected.confidence_interval(0.95)))
    assert found.over_examples is False


def test_four_systems_add_their_variances():
    one, other = scored(50.0, 53.0), scored(47.0, 51.0)
    found = contrast([(1, one), (-1, other), (-1, one), (1, other)])
    assert found.mean == 0.0
    assert found.standard_error == pytest.approx(math.sqrt(2 * (4.5 + 8) / 2))


def test_one_seed_or_equal_seeds_say_nothing_of_chance():
    for scores in ((50.0,), (50.0, 50.0)):
        found = contrast([(1, scored(*scores)), (-1, scored(*scores))])
        assert (found.standard_error, found.p_value, found.interval) == (None, None, None)
    assert over_seeds([1.0]).p_value is None
    assert over_seeds([1.0, 1.0]).p_value is None


def test_a_figure_that_each_seed_gives_has_a_t_interval():
    stats = pytest.importorskip("scipy.stats")
    found = over_seeds([1.0, 3.0, 5.0], threshold=1.0)
    expected = stats.ttest_1samp([1.0, 3.0, 5.0], 1.0)
    assert (found.mean, found.degrees_of_freedom) == (3.0, 2)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert found.interval == pytest.approx(tuple(expected.confidence_interval(0.95)))


def test_examples_add_their_variance_to_that_of_seeds():
    noise = np.random.default_rng(0).normal(size=(4000, 1))
    noise = (noise - noise.mean()) / noise.std(ddof=1)
    better = scored(60.0, 62.0, resampled=np.array([60.0, 62.0]) + 2 * noise, units=1001)
    worse = scored(50.0, 50.4, resampled=np.array([50.0, 50.4]) - noise, units=1001)
    found = contrast([(1, better), (-1, worse)])
    # All seeds move alike with the examples, so that none of the seeds' variance comes from them.
    variance = 9 * 1001 / 1000 + 2.0 / 2 + 0.08 / 2
    assert found.standard_error == pytest.approx(math.sqrt(variance))
    uncertainty = (9 * 1001 / 1000) ** 2 / 1000 + 1.0**2 + 0.04**2
    assert found.degrees_of_freedom == pytest.approx(variance**2 / uncertainty)
    assert found.over_examples is True


def test_what_moves_all_systems_alike_is_no_difference():
    noise = np.random.default_rng(0).normal(size=(500, 1))
    one, other = (
        scored(*scores, resampled=np.array(scores) + 5 * noise, units=100) for scores in ((60.0, 62.0), (57.0, 58.0))
    )
    assert contrast([(1, one), (-1, other)]).standard_error == pytest.approx(math.sqrt((2.0 + 0.5) / 2))


def test_variance_of_seeds_that_comes_from_the_examples_is_counted_once():
    # Each seed errs on examples of its own: the resamples already show what the seeds' scores vary by.
    noise = np.random.default_rng(0).normal(size=(20_000, 4))
    one = scored(59.0, 61.0, resampled=np.array([59.0, 61.0]) + noise[:, :2], units=10_000)
    other = scored(49.0, 51.0, resampled=np.array([49.0, 51.0]) + noise[:, 2:], units=10_000)
    found = contrast([(1, one), (-1, other)])
    # Examples: 1/2 for each system. Seeds: sample variance 2, of which 1 comes from the examples.
    assert found.standard_error == pytest.approx(math.sqrt(2 * (0.5 + (2.0 - 1.0) / 2)), rel=0.03)


def test_a_threshold_moves_the_test_and_not_the_interval():
    plain, moved = Difference(1.0, 0.5, 4), Difference(1.0, 0.5, 4, threshold=1.0)
    assert plain.interval == moved.interval
    assert (plain.p_value, moved.p_value) == (pytest.approx(0.1161, abs=1e-4), pytest.approx(1.0))


def test_the_error_reduction_is_that_of_the_papers_table():
    assert error_reduction(90.15, 92.22) == pytest.approx(21.0, abs=0.05)
    assert error_reduction(51.4, 54.7) == pytest.approx(6.8, abs=0.05)
    assert error_reduction(50.0, 40.0) == -20.0
    assert error_reduction(100.0, 100.0) is None
