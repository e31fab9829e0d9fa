"""Cosines, and the nearest vectors, against the plain definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo.embed.results import similarity as module
from elmo.embed.results.similarity import maxsim, nearest, similarity
from elmo.errors import ConfigError


def plain(a, b):
    def cosine(x, y):
        norm = np.sqrt((x**2).sum() * (y**2).sum())
        return float(x @ y) / norm if norm else 0.0

    return [[cosine(x.astype(float), y.astype(float)) for y in b] for x in a]


@given(st.integers(1, 5), st.integers(1, 6), st.integers(1, 8), st.integers(0, 99))
def test_cosines_and_nearest_are_the_definition(rows, others, dim, seed):
    random = np.random.default_rng(seed)
    a, b = (random.integers(-2, 3, (count, dim)).astype(np.float32) for count in (rows, others))
    expected = np.array(plain(a, b))
    np.testing.assert_allclose(similarity(a, b), expected, atol=1e-6)
    np.testing.assert_allclose(similarity(a), plain(a, a), atol=1e-6)
    found, scores = nearest(a, b, k=3)
    assert found.shape == scores.shape == (rows, min(3, others))
    np.testing.assert_allclose(scores, np.take_along_axis(expected, found, axis=1), atol=1e-6)
    np.testing.assert_allclose(scores, -np.sort(-expected, axis=1)[:, :3], atol=1e-6)


def test_many_queries_are_done_in_blocks(monkeypatch):
    random = np.random.default_rng(0)
    a, b = random.normal(size=(20, 4)), random.normal(size=(7, 4))
    whole = nearest(a, b, 2)
    monkeypatch.setattr(module, "_BLOCK", 21)
    for one, other in zip(whole, nearest(a, b, 2), strict=True):
        assert np.array_equal(one, other)


def test_single_vectors_count_as_rows_and_equal_ones_come_in_order():
    assert similarity([1, 0], [[2, 0], [0, 1]]).tolist() == [[1, 0]]
    rows, _ = nearest([1, 0], [[0, 1], [3, 0], [1, 0]], k=2)
    assert rows.tolist() == [[1, 2]]


def test_what_makes_no_sense_is_refused(embedder):
    for call, message in (
        (lambda: similarity(np.zeros((2, 3, 4))), r"got \(2, 3, 4\).*one layer"),
        (lambda: similarity(np.zeros((2, 3)), np.zeros((2, 4))), r"b must be .* \(rows, 3\) \(got \(2, 4\)\)"),
        (lambda: similarity([]), r"a must be finite .* \(rows, dim\) \(got \(0,\)\).*pool='mean'"),
        (lambda: similarity([[np.nan]]), "with NaN or inf"),
        (lambda: nearest([[1.0]], [[1.0]], k=0), "k must be at least 1 .got 0"),
        (lambda: nearest([[1.0]], [[1.0]], k=True), "k must be a whole number .*got True"),
    ):
        with pytest.raises(ConfigError, match=message):
            call()


def plain_maxsim(query, document):
    """The definition, token by token in float64."""
    return sum(max(row) for row in plain(query, document)) if len(document) else 0


def texts(random, count, longest, dim):
    return [random.normal(size=(random.integers(0, longest + 1), dim)).astype(np.float32) for _ in range(count)]


@given(st.integers(0, 5), st.integers(0, 6), st.integers(1, 8), st.integers(0, 99))
def test_maxsim_is_its_definition_for_texts_of_any_length(queries, documents, dim, seed):
    random = np.random.default_rng(seed)
    asked, known = texts(random, queries, 4, dim), texts(random, documents, 7, dim)
    expected = np.reshape([[plain_maxsim(a, b) for b in known] for a in asked], (queries, documents))
    found = maxsim(asked, known)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-30, 1e-12, 1, 1e12, 1e30])
def test_maxsim_of_very_short_and_long_vectors_is_exact(scale):
    asked = [np.array([[3, 4], [0, 1]], np.float32)]
    known = [np.array([[6, 8], [0, 0]], np.float32) * np.float32(scale), np.zeros((2, 2), np.float32)]
    np.testing.assert_allclose(maxsim(asked, known), [[1 + 0.8, 0]], atol=1e-6)


def test_what_maxsim_makes_no_sense_of_is_refused(embedder):
    one = np.ones((2, 3), np.float32)
    for call, message in (
        (lambda: maxsim(one, [one]), r"queries\[0\] must have the shape \(tokens, dim\).*got \(3,\).*\[array\]"),
        (lambda: maxsim([one], embedder.embed(["a b"])), r"documents\[0\] must be finite .*one layer"),
        (lambda: maxsim([one], [np.ones((2, 4))]), r"documents\[0\] must be finite .*\(got \(2, 4\)\)"),
        (lambda: maxsim([one], [one * np.inf]), r"documents\[0\] must be finite .*with NaN or inf"),
    ):
        with pytest.raises(ConfigError, match=message):
            call()
