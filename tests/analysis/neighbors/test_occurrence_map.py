"""The map of a word's occurrences, and search by a mix of the layers, beside plain computations."""

import numpy as np
import pytest

from elmo.analysis.neighbors.build import build_index
from elmo.analysis.neighbors.context_index import ContextIndex
from elmo.analysis.neighbors.occurrence_map import occurrence_map
from elmo.analysis.neighbors.query import neighbors
from elmo.analysis.unit_vectors import unit
from elmo.embed.embedder import Embedder
from elmo.errors import ConfigError

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


def test_a_word_that_the_index_lacks_is_alone(index, embedder):
    found = occurrence_map(index, embedder, [(["a", "zebra"], 1)])
    assert (len(found.occurrences), found.in_index, found.layers[2].variance) == (1, 0, None)


def test_without_a_marked_token_there_is_nothing_to_show(index, embedder):
    with pytest.raises(ConfigError, match="no token is marked"):
        occurrence_map(index, embedder, [])


def test_search_by_a_mix_equals_the_cosines_of_mixed_vectors(index, embedder):
    tokens = ["money", "of", "the", "bank"]
    *_, found = neighbors(index, embedder, tokens, 3, 8, weights=WEIGHTS)
    query = embedder.embed([tokens], layers=WEIGHTS)[0][3]
    for hit in found["other"] + found["same"]:
        vector = embedder.embed([hit.tokens], layers=WEIGHTS)[0][hit.position]
        expected = vector @ query / np.linalg.norm(vector) / np.linalg.norm(query)
        assert hit.cosine == pytest.approx(expected, abs=2e-3)
    assert len(found["other"]) == 7


@pytest.mark.parametrize("weights", [[1.0, 2.0], [0.0, 0.0, 0.0], [1.0, float("nan"), 0.0]])
def test_weights_that_choose_nothing_are_refused(index, weights):
    with pytest.raises(ConfigError, match="weights must be 3 finite numbers"):
        index.search(np.ones(index.dim, np.float32), weights)
