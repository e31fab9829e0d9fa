"""Principal components, the turn onto an earlier picture, and true neighbors beside shown ones."""

import numpy as np
import pytest

from elmo.analysis.projection import nearest, nearest_on_plane, neighbors_kept, plane, turned_onto


@pytest.fixture
def vectors():
    random = np.random.default_rng(3)
    return (random.normal(size=(40, 12)) * np.linspace(3, 0.1, 12)).astype(np.float32)


def test_the_plane_holds_as_much_variance_as_the_two_largest_eigenvalues(vectors):
    points, share = plane(vectors)
    values = np.sort(np.linalg.eigvalsh(np.cov(vectors.T.astype(np.float64))))
    assert share == pytest.approx(values[-2:].sum() / values.sum(), rel=1e-5)
    assert points.shape == (40, 2)
    np.testing.assert_allclose(points.var(axis=0, ddof=1), values[-2:][::-1], rtol=1e-4)


def test_equal_vectors_have_no_main_direction(vectors):
    same = np.repeat(vectors[:1], 9, axis=0) / np.linalg.norm(vectors[0])
    points, share = plane(same.astype(np.float16).astype(np.float32))
    assert share is None
    assert not points.any()


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_few_vectors_have_a_plane_too(vectors, count):
    points, share = plane(vectors[:count])
    assert points.shape == (count, 2)
    assert np.isfinite(points).all()
    assert share is None if count == 1 else 0 < share <= 1 + 1e-9


def test_a_turned_and_mirrored_picture_is_turned_back(vectors):
    points, _ = plane(vectors)
    angle = 0.7
    turn = np.array([[np.cos(angle), np.sin(angle)], [np.sin(angle), -np.cos(angle)]], dtype=np.float32)
    np.testing.assert_allclose(turned_onto(points @ turn, points), points, atol=1e-5)


def test_neighbors_are_those_of_a_plain_loop(vectors):
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    found = nearest(units, 5)
    for row in range(len(units)):
        others = sorted((float(-units[row] @ units[other]), other) for other in range(len(units)) if other != row)
        assert found[row].tolist() == [other for _, other in others[:5]]
    points, _ = plane(units)
    distances = np.linalg.norm(points[0] - points, axis=1)
    assert nearest_on_plane(points, 5)[0].tolist() == np.argsort(distances)[1:6].tolist()
    assert nearest(units[:3], 5).shape == (3, 2)


def test_neighbors_kept_counts_common_ones():
    assert neighbors_kept(np.array([[1, 2], [0, 2]]), np.array([[2, 1], [3, 4]])) == 1.0
