"""Resamples: paired over systems, by unit, the same each time, and as variable as theory says."""

import numpy as np
import pytest

from elmo.reproduce.verdicts.bootstrap import effective_units, resampled_scores, summed_by_unit


def accuracy(counts):
    return 100 * counts[..., 0] / counts[..., 1]


def outcomes(right) -> np.ndarray:
    right = np.atleast_2d(np.asarray(right, float))
    return np.stack([right, np.ones_like(right)], axis=-1)


def test_the_deviation_of_a_mean_is_that_of_theory():
    right = np.random.default_rng(1).random((2, 400)) < 0.7
    (found,) = resampled_scores([outcomes(right)], accuracy, draws=4000)
    assert found.shape == (4000, 2)
    np.testing.assert_allclose(found.mean(axis=0), 100 * right.mean(axis=1), atol=0.2)
    np.testing.assert_allclose(found.std(axis=0), 100 * right.std(axis=1) / 20, rtol=0.05)


def test_all_systems_are_scored_on_the_same_resamples():
    right = np.random.default_rng(1).random((1, 60)) < 0.5
    one, other = resampled_scores([outcomes(right), outcomes(right)], accuracy, draws=300)
    np.testing.assert_array_equal(one, other)
    better, worse = resampled_scores([outcomes(right | (np.arange(60) < 20)), outcomes(right)], accuracy, draws=300)
    assert (better >= worse).all()


def test_the_same_data_give_the_same_resamples_alone_or_together():
    rows = [outcomes(np.arange(30) % modulus == 0) for modulus in (2, 3)]
    together = resampled_scores(rows, accuracy, draws=50)
    alone = resampled_scores(rows[1:], accuracy, draws=50)
    np.testing.assert_array_equal(together[1], alone[0])
    assert not np.array_equal(together[1], resampled_scores(rows[1:], accuracy, draws=50, seed=1)[0])


def test_many_units_are_drawn_in_parts(monkeypatch):
    row = outcomes(np.arange(30) % 3 == 0)
    whole = resampled_scores([row], accuracy, draws=50)[0]
    monkeypatch.setattr("elmo.reproduce.verdicts.bootstrap._CHUNK_ELEMENTS", 200)
    np.testing.assert_array_equal(resampled_scores([row], accuracy, draws=50)[0], whole)


def test_examples_of_a_document_are_drawn_together():
    # Ten documents of 40 sentences, right or wrong as a whole: as variable as ten examples, not as 400.
    documents = np.repeat(np.arange(10), 40)
    counts = summed_by_unit(outcomes(documents % 2), documents.tolist())
    assert counts.shape == (1, 10, 2)
    np.testing.assert_array_equal(counts[0, :2], [[0, 40], [40, 40]])
    (found,) = resampled_scores([counts], accuracy, draws=3000)
    assert found.std() == pytest.approx(50 / np.sqrt(10), rel=0.05)


def test_units_of_different_sizes_say_less_than_as_many_equal_ones():
    equal = np.ones((3, 20, 2))
    assert effective_units(equal) == pytest.approx(20)
    equal[:, 0] *= 1000
    assert 1 < effective_units(equal) < 1.1
