"""Differences, their errors and intervals, against figures worked out by hand and by scipy; resamples, as variable as
theory says; Holm's correction.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_paper.reproduce.verdicts import (
    Difference,
    Scored,
    contrast,
    decide,
    effective_units,
    error_reduction,
    holm,
    over_seeds,
    resampled_scores,
    summed_by_unit,
)


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
    # The mean of three 61.7 is another number in its last bit.
    for scores in ((50.0,), (50.0, 50.0), (61.7, 61.7, 61.7)):
        found = contrast([(1, scored(*scores)), (-1, scored(*scores))])
        assert (found.standard_error, found.p_value, found.interval) == (None, None, None)
    assert over_seeds([1.0]).p_value is None
    assert over_seeds([1.0, 1.0]).p_value is None


def test_one_unit_of_test_data_says_nothing_of_other_data():
    seeds, resampled = np.array([50.0, 53.0, 52.0]), np.full((10, 3), 52.0)
    one, other = Scored(seeds, resampled, num_units=1), Scored(seeds + 9, resampled + 9, num_units=1)
    found = contrast([(1, other), (-1, one)])
    assert (found.mean, found.interval) == (9.0, None)
    assert [decision.verdict for decision in decide([found])] == ["not decided"]


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


def test_more_seeds_make_no_difference_surer_that_comes_from_two_documents():
    noise, close = np.random.default_rng(0).normal(size=(500, 1)), np.array([60.0, 60.01, 60.02, 60.03, 60.04])
    one, other = (Scored(close + mean, close + mean + noise * sign, num_units=2) for mean, sign in ((9, 1), (0, -1)))
    assert contrast([(1, one), (-1, other)]).degrees_of_freedom == pytest.approx(1, abs=0.01)


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


def accuracy(counts):
    return 100 * counts[..., 0] / counts[..., 1]


def outcomes(right) -> np.ndarray:
    right = np.atleast_2d(np.asarray(right, float))
    return np.stack([right, np.ones_like(right)], axis=-1)


def test_the_deviation_of_a_mean_is_that_of_theory():
    right = np.random.default_rng(1).random((2, 400)) < 0.7
    found = resampled_scores(outcomes(right), accuracy, draws=4000)
    assert found.shape == (4000, 2)
    np.testing.assert_allclose(found.mean(axis=0), 100 * right.mean(axis=1), atol=0.2)
    np.testing.assert_allclose(found.std(axis=0), 100 * right.std(axis=1) / 20, rtol=0.05)


def test_all_systems_are_scored_on_the_same_resamples():
    right = np.random.default_rng(1).random((1, 60)) < 0.5
    worse = resampled_scores(outcomes(right), accuracy, draws=300)
    np.testing.assert_array_equal(worse, resampled_scores(outcomes(right), accuracy, draws=300))
    better = resampled_scores(outcomes(right | (np.arange(60) < 20)), accuracy, draws=300)
    assert (better >= worse).all()
    assert not np.array_equal(worse, resampled_scores(outcomes(right), accuracy, draws=300, seed=1))


def test_a_seed_has_the_same_resamples_whatever_other_seeds_there_are():
    right = np.stack([np.arange(30) % modulus == 0 for modulus in (2, 3)])
    together = resampled_scores(outcomes(right), accuracy, draws=50)
    np.testing.assert_array_equal(together[:, 1:], resampled_scores(outcomes(right[1]), accuracy, draws=50))


def test_many_units_are_drawn_in_parts(monkeypatch):
    row = outcomes(np.arange(30) % 3 == 0)
    whole = resampled_scores(row, accuracy, draws=50)
    monkeypatch.setattr("elmo_paper.reproduce.verdicts._CHUNK_ELEMENTS", 200)
    np.testing.assert_array_equal(resampled_scores(row, accuracy, draws=50), whole)


def test_examples_of_a_document_are_drawn_together():
    # Ten documents of 40 sentences, right or wrong as a whole: as variable as ten examples, not as 400.
    documents = np.repeat(np.arange(10), 40)
    counts = summed_by_unit(outcomes(documents % 2), documents.tolist())
    assert counts.shape == (1, 10, 2)
    np.testing.assert_array_equal(counts[0, :2], [[0, 40], [40, 40]])
    found = resampled_scores(counts, accuracy, draws=3000)
    assert found.std() == pytest.approx(50 / np.sqrt(10), rel=0.05)


def test_units_of_different_sizes_say_less_than_as_many_equal_ones():
    equal = np.ones((3, 20, 2))
    assert effective_units(equal, "f1") == pytest.approx(20)
    equal[:, 0] *= 1000
    assert 1 < effective_units(equal, "f1") < 1.1


def test_sentences_with_nothing_to_find_say_nothing_of_an_f1():
    # Columns: found, invented, missed, and the 1 for the example.
    counts = np.zeros((3, 100, 4))
    counts[..., -1] = 1
    assert effective_units(counts, "f1") == 0
    counts[:, :4, 0] = 1
    assert effective_units(counts, "f1") == pytest.approx(4)


def test_a_unit_of_a_mean_is_as_large_as_its_examples_however_they_are_answered():
    answered = np.ones((3, 20, 2))
    answered[:, :5, 0] = 100
    assert effective_units(answered, "mean") == pytest.approx(20)


def test_a_unit_of_an_accuracy_is_as_large_as_what_it_has_labels_for_however_they_are_found():
    noun_found, verb_taken_for_noun = [1, 0, 0, 0, 0, 0, 1], [0, 1, 0, 0, 0, 1, 1]
    counts = np.array([[noun_found] * 10 + [verb_taken_for_noun] * 10] * 2, float)
    assert effective_units(counts, "accuracy") == pytest.approx(20)
    counts[:, 0, 0] = 1000  # a sentence of so many tokens among those of one
    assert 1 < effective_units(counts, "accuracy") < 1.1


def test_a_difference_is_as_sure_as_its_opposite():
    noise = np.random.default_rng(0).normal(size=(500, 2))
    one = scored(60.0, 62.0, resampled=np.array([60.0, 62.0]) + noise, units=11)
    other = scored(50.0, 50.4, resampled=np.array([50.0, 50.4]) - noise, units=31)
    found = [contrast([(1, better), (-1, worse)]) for better, worse in ((one, other), (other, one))]
    assert found[0].mean == -found[1].mean
    assert found[0].p_value == found[1].p_value


def test_holms_own_steps():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=8))
def test_corrected_values_keep_the_order_and_lie_between_the_p_value_and_bonferroni(p_values):
    found = holm(p_values)
    for p, corrected in zip(p_values, found, strict=True):
        assert p <= corrected <= min(1.0, len(p_values) * p + 1e-12)
    by_p = [corrected for _, corrected in sorted(zip(p_values, found, strict=True))]
    assert by_p == sorted(by_p)


def test_each_claim_agrees_disagrees_or_is_not_decided():
    found = decide([Difference(3.0, 0.1, 4), Difference(-3.0, 0.1, 4), Difference(0.3, 0.1, 4), Difference(9.0, None)])
    assert [one.verdict for one in found] == ["agrees", "does not agree", "agrees", "not decided"]
    assert found[3].corrected_p is None


def test_what_is_enough_for_one_claim_is_not_enough_for_one_of_two():
    claim = Difference(0.3, 0.1, 4)
    assert claim.p_value == pytest.approx(0.0399, abs=1e-4)
    assert decide([claim])[0].verdict == "agrees"
    assert [one.verdict for one in decide([claim, claim])] == ["not decided", "not decided"]


def test_a_claim_of_being_as_good_is_decided_against_its_threshold():
    just_below = Difference(-0.5, 0.1, 4, threshold=-1.0)
    far_below = Difference(-1.5, 0.1, 4, threshold=-1.0)
    assert [one.verdict for one in decide([just_below, far_below])] == ["agrees", "does not agree"]
