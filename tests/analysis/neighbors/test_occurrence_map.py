"""The map of a word's occurrences: principal components, the turn onto an earlier picture, true neighbors beside shown
ones.
"""

import numpy as np
import pytest

from elmo.analysis.neighbors.build import build_index
from elmo.analysis.neighbors.context_index import ContextIndex, unit
from elmo.analysis.neighbors.occurrence_map import (
    drawn,
    nearest,
    nearest_on_plane,
    neighbors_kept,
    occurrence_map,
    plane,
    turned_onto,
)
from elmo.analysis.neighbors.query import neighbors
from elmo.embed.embedder import Embedder

WORDS = ["the", "bank", "of", "river", "money", "밥", "was", "steep"]
WEIGHTS = [0.2, 0.5, 0.3]


@pytest.fixture
def embedder(tiny_bilm) -> Embedder:
    return Embedder(tiny_bilm)


@pytest.fixture
def index(embedder, tmp_path) -> ContextIndex:
    random = np.random.default_rng(5)
    text = [[WORDS[place] for place in random.integers(len(WORDS), size=random.integers(2, 9))] for _ in range(60)]
    build_index(text, embedder, tmp_path / "index")
    return ContextIndex(tmp_path / "index")


def marked(index):
    return [(index.sentences[4], 0), (["money", "was", "the", "bank"], 3)]


def test_occurrences_are_those_of_the_marked_words(index, embedder):
    found = occurrence_map(index, embedder, marked(index))
    words = {index.sentences[4][0], "bank"}
    expected = sum(token in words for one in index.sentences if one != index.sentences[4] for token in one)
    assert found.in_index == expected == len(found.occurrences) - 2
    assert [one.mark for one in found.occurrences[:3]] == [0, 1, None]
    assert all(one.tokens[one.position] in words for one in found.occurrences)


def test_distances_and_cosines_are_those_of_the_vectors(index, embedder):
    found = occurrence_map(index, embedder, marked(index), weights=WEIGHTS)
    assert len(found.layers) == 4
    for layer, picture in zip([0, 1, 2, WEIGHTS], found.layers, strict=True):
        arrays = embedder.embed([one.tokens for one in found.occurrences], layers=layer)
        places = [one.position for one in found.occurrences]
        vectors = unit(np.stack([array[place] for array, place in zip(arrays, places, strict=True)]))
        np.testing.assert_allclose(picture.to_marks, vectors @ vectors[:2].T, atol=2e-3)
        spread = np.linalg.norm(picture.points - picture.points.mean(axis=0), axis=1)
        assert (spread <= np.linalg.norm(vectors - vectors.mean(axis=0), axis=1) + 2e-3).all()
        assert 0 <= picture.kept <= 5
    assert found.layers[2].variance > 0


def test_one_word_is_one_point_in_layer_0(index, embedder):
    found = occurrence_map(index, embedder, [(["the", "bank"], 1)])
    assert found.layers[0].variance is None
    assert not found.layers[0].points.any()


def test_a_sample_is_drawn_by_its_seed(index, embedder):
    maps = [occurrence_map(index, embedder, [(["the", "bank"], 1)], limit=5, seed=seed) for seed in (1, 1, 2)]
    assert [len(one.occurrences) for one in maps] == [6, 6, 6]
    assert maps[0].occurrences == maps[1].occurrences != maps[2].occurrences
    assert maps[0].in_index > 5


def test_a_sample_takes_every_part_of_the_text_alike():
    counts = np.bincount(drawn(100_000, 20_000, 7) // 10_000, minlength=10)
    assert np.abs(counts - 2000).max() < 5 * (2000 * 0.9) ** 0.5
    assert drawn(5, 9, 0).tolist() == [0, 1, 2, 3, 4]


def test_the_point_farthest_along_an_axis_is_on_its_positive_side(vectors):
    for some in (vectors, -vectors):
        points, _ = plane(some)
        assert (points.max(axis=0) >= -points.min(axis=0)).all()


def test_a_word_that_the_index_lacks_is_alone(index, embedder):
    found = occurrence_map(index, embedder, [(["a", "zebra"], 1)])
    assert (len(found.occurrences), found.in_index, found.layers[2].variance) == (1, 0, None)


def test_search_by_a_mix_equals_the_cosines_of_mixed_vectors(index, embedder):
    tokens = ["money", "of", "the", "bank"]
    *_, found = neighbors(index, embedder, tokens, 3, 8, weights=WEIGHTS)
    query = embedder.embed([tokens], layers=WEIGHTS)[0][3]
    for hit in found["other"] + found["same"]:
        vector = embedder.embed([hit.tokens], layers=WEIGHTS)[0][hit.position]
        expected = vector @ query / np.linalg.norm(vector) / np.linalg.norm(query)
        assert hit.cosine == pytest.approx(expected, abs=2e-3)
    assert len(found["other"]) == 7


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
