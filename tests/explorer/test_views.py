"""What each view shows is what the library computes, rounded."""

import json

import msgspec
import numpy as np
import pytest

from elmo.analysis.measures import token_similarity
from elmo.analysis.neighbors.occurrence_map import occurrence_map
from elmo.analysis.neighbors.query import neighbors
from elmo.explorer.texts import own_example
from elmo.explorer.views import Substitutes
from elmo.lm.substitutes import Prediction
from elmo.serve.answers import Refusal

A, B = (["the", "bank", "was", "steep"], 1), (["money", "in", "the", "bank"], 3)
WEIGHTS = [0.2, 0.5, 0.3]


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_neighbors_are_those_of_the_index(explored, weights):
    shown = explored.neighbors(A, 3, weights)
    expected = neighbors(explored.index(), explored.model.embedder, *A, 3, weights=weights)
    assert len(shown.layers) == len(expected) == (3 if weights is None else 4)
    for layer, hits in zip(shown.layers, expected, strict=True):
        for which in ("other", "same"):
            found = [(near.tokens, near.position, near.cosine) for near in getattr(layer, which)]
            assert found == [(hit.tokens, hit.position, round(hit.cosine, 4)) for hit in hits[which]]
    assert {near.tokens[near.position] for near in shown.layers[1].same} == {"bank"}


def test_the_map_is_that_of_the_occurrences(explored):
    shown = explored.occurrences([A, B], 300, WEIGHTS)
    expected = occurrence_map(explored.index(), explored.model.embedder, [A, B], weights=WEIGHTS)
    assert [(point.tokens, point.position, point.mark) for point in shown.points] == [
        (one.tokens, one.position, one.mark) for one in expected.occurrences
    ]
    for layer, picture in zip(shown.layers, expected.layers, strict=True):
        np.testing.assert_allclose(layer.points, picture.points, atol=1e-4)
        np.testing.assert_allclose(layer.to_marks, picture.to_marks, atol=1e-4)
        assert layer.nearest == picture.nearest.tolist()
        assert layer.kept == pytest.approx(picture.kept, abs=0.01)


def test_the_table_is_that_of_the_similarity(explored):
    embedder = explored.model.embedder
    shown = explored.similarity(A[0], B[0], WEIGHTS)
    np.testing.assert_allclose(shown.layers[:3], token_similarity(embedder, A[0], B[0]), atol=6e-5)
    np.testing.assert_allclose(shown.layers[3:], token_similarity(embedder, A[0], B[0], WEIGHTS), atol=6e-5)


def test_words_for_a_gap_are_those_of_the_predictions():
    found = Substitutes(forward=Prediction([("bank", 0.5)], 0.25, 2), both=Prediction([], None, None))
    assert json.loads(msgspec.json.encode(found)) == {
        "forward": {"best": [["bank", 0.5]], "probability": 0.25, "rank": 2},
        "backward": None,
        "both": {"best": [], "probability": None, "rank": None},
    }


def test_a_model_without_softmax_says_so(explored):
    with pytest.raises(Refusal, match="tiny has no softmax"):
        explored.substitutes(A, 10)


def test_a_text_of_ones_own_opens_on_two_uses_of_one_of_its_words(explored):
    example = own_example(explored.index())
    words = {tokens[place] for tokens, place in zip(example.sentences, example.places, strict=True)}
    assert len(words) == 1
    assert explored.info().examples == [example]
    assert all(" ".join(tokens) in explored.text.path.read_text() for tokens in example.sentences)


def test_a_text_opens_on_sentences_that_the_page_shows(explored, monkeypatch):
    most = min(map(len, explored.index().sentences))
    monkeypatch.setattr("elmo.explorer.texts.MOST_TOKENS", most)
    example = own_example(explored.index())
    assert example is None or all(len(tokens) <= most for tokens in example.sentences)
    monkeypatch.setattr("elmo.explorer.texts.MOST_TOKENS", most - 1)
    assert own_example(explored.index()) is None
