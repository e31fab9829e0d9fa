"""Cosines of tokens beside a plain loop."""

import numpy as np
import pytest

from elmo.analysis.measures import token_similarity
from elmo.embed.embedder import Embedder
from elmo.embed.results.similarity import cosines

A, B = ["the", "cat", "sat"], ["a", "cat", "and", "a", "dog"]


@pytest.mark.parametrize("keep_boundaries", [False, True])
def test_each_cell_is_the_cosine_of_two_tokens(tiny_bilm, keep_boundaries):
    found = token_similarity(Embedder(tiny_bilm, keep_boundaries=keep_boundaries), A, B)
    one, other = Embedder(tiny_bilm).embed([A, B])
    assert found.shape == (3, 3, 5)
    for layer in range(3):
        for i, x in enumerate(one[layer]):
            for j, y in enumerate(other[layer]):
                expected = x @ y / np.linalg.norm(x) / np.linalg.norm(y)
                assert found[layer, i, j] == pytest.approx(expected, abs=1e-5)


def test_weights_give_the_cosines_of_the_weighted_sum(tiny_bilm):
    embedder, weights = Embedder(tiny_bilm), [0.2, 0.5, 0.3]
    one, other = embedder.embed([A, B], layers=weights)
    np.testing.assert_allclose(token_similarity(embedder, A, B, weights), cosines(one[None], other[None]), atol=1e-6)
