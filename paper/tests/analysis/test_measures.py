"""Measures beside their formulas over all pairs."""

from itertools import permutations

import numpy as np
import pytest

from elmo.analysis.neighbors.context_index import unit
from elmo_paper.analysis.measures import (
    anisotropy,
    cka,
    explained_variance,
    intra_sentence_similarity,
    known,
    mean_and_interval,
    mean_pair_cosine,
)


def cosine(a, b):
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


@pytest.fixture
def vectors():
    return np.random.default_rng(0).normal(loc=0.3, size=(9, 4))


def test_the_mean_over_pairs_is_that_of_all_pairs(vectors):
    expected = np.mean([cosine(a, b) for a, b in permutations(vectors, 2)])
    units = unit(vectors)
    found = mean_pair_cosine(units.sum(axis=0), np.array(9))
    assert found == pytest.approx(expected, abs=1e-12)
    value, (low, high) = anisotropy(vectors)
    assert value == pytest.approx(expected, abs=1e-6) and low < value < high


def test_zeros_are_known_as_no_vectors(vectors):
    with_zero = np.concatenate([vectors, np.zeros((1, 4))])
    assert known(with_zero).tolist() == [True] * 9 + [False]
    expected = np.mean([cosine(one, vectors.mean(axis=0)) for one in vectors])
    assert intra_sentence_similarity(with_zero[None])[0] == pytest.approx(expected, abs=1e-12)
    assert anisotropy(vectors[:1]) is None
    assert anisotropy(vectors[:2])[1] == (-1, 1)
    pairs = [cosine(vectors[a], vectors[b]) for a, b in ((0, 1), (0, 2), (1, 2))]
    low, high = anisotropy(vectors[:3])[1]
    assert low == pytest.approx(min(pairs), abs=1e-6) and high == pytest.approx(max(pairs), abs=1e-6)


def test_a_sentence_without_two_vectors_has_no_similarity(vectors):
    nothing, one = np.zeros((3, 4)), np.concatenate([vectors[:1], np.zeros((2, 4))])
    assert np.isnan(intra_sentence_similarity(np.stack([nothing, one]))).all()


def test_the_interval_of_anisotropy_is_about_as_wide_as_what_new_samples_give():
    random = np.random.default_rng(1)
    samples = [random.normal(loc=0.2, size=(150, 6)) for _ in range(80)]
    spread = np.std([anisotropy(one)[0] for one in samples])
    _, (low, high) = anisotropy(samples[0])
    assert 0.6 < (high - low) / (2 * 1.96 * spread) < 1.6


def test_the_explained_variance_is_the_largest_share_of_squared_length(vectors):
    values = np.linalg.eigvalsh(vectors.T @ vectors)
    assert explained_variance(vectors) == pytest.approx(values[-1] / values.sum(), abs=1e-12)
    assert explained_variance(np.outer([1.0, 2, 3], [1, 1])) == pytest.approx(1)
    assert explained_variance(np.zeros((3, 2))) == 0


def test_alignment_sees_neither_rotation_nor_scale_nor_offset(vectors):
    random = np.random.default_rng(2)
    rotation, _ = np.linalg.qr(random.normal(size=(4, 4)))
    assert cka(vectors, 3 * vectors @ rotation + 5) == pytest.approx(1)
    other = random.normal(size=(9, 3))
    x, y = vectors - vectors.mean(axis=0), other - other.mean(axis=0)
    k, m = x @ x.T, y @ y.T  # Kornblith et al., by the kernels themselves
    expected = (k * m).sum() / np.sqrt((k * k).sum() * (m * m).sum())
    assert cka(vectors, other) == pytest.approx(expected) and cka(vectors, np.ones((9, 2))) == 0


def test_an_interval_is_that_of_students_t_and_within_what_is_possible():
    stats = pytest.importorskip("scipy.stats")
    for count in (2, 3, 4, 5, 8, 30, 3000):
        values = np.random.default_rng(count).normal(size=count)
        mean, (low, high) = mean_and_interval(values, -1e6, 1e6)
        assert mean == pytest.approx(values.mean()) and mean - low == pytest.approx(high - mean)
        assert high - mean == pytest.approx(stats.t.ppf(0.975, count - 1) * stats.sem(values))
    assert mean_and_interval(np.array([10.0, 90.0]), 0.0, 100.0) == (50.0, (0.0, 100.0))
    assert mean_and_interval(np.array([2.0]), -100.0, 100.0) == (2.0, (-100.0, 100.0))  # it says nothing of others
