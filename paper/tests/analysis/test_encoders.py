"""Encoders to compare with: the mean of the words around a token, layers with their mean, random weights."""

import dataclasses

import numpy as np
import pytest

from elmo.embed.embedder import Embedder
from elmo.embed.encoder import Encoder, token_layers
from elmo.errors import ConfigError
from elmo.model.bilm import BiLM
from elmo.static.vectors import StaticVectors
from elmo_paper.analysis.encoders import (
    ContextAverage,
    ForwardHalf,
    StaticEncoder,
    WithAverage,
    random_embedder,
)

STATIC = StaticVectors(("a", "b", "c", "d"), np.arange(8, dtype=np.float32).reshape(4, 2))


def test_all_of_them_are_encoders(tiny_bilm):
    embedder = Embedder(tiny_bilm)
    plain = (embedder, StaticEncoder(STATIC), ContextAverage(STATIC), WithAverage(embedder))
    for encoder in (*plain, ForwardHalf(embedder)):
        assert isinstance(encoder, Encoder)
        (found,) = encoder.embed_iter([["a", "b", "unknown"]])
        assert found.shape == (encoder.num_layers, 3, encoder.layer_dim) and found.dtype == np.float32


def test_a_context_average_knows_the_words_around_but_not_the_word():
    sentence = ["a", "b", "unknown", "c", "d", "a"]
    (found,) = ContextAverage(STATIC, window=2).embed_iter([sentence])
    for place in range(len(sentence)):
        around = [word for at, word in enumerate(sentence) if 0 < abs(at - place) <= 2 and word in STATIC]
        np.testing.assert_allclose(found[0, place], STATIC.lookup(around).mean(axis=0), rtol=1e-6)


def test_encoders_of_the_same_vectors_have_hashes_of_their_own():
    """Remembered layers are found by the hash alone."""
    found = [StaticEncoder(STATIC), ContextAverage(STATIC), ContextAverage(STATIC, window=2)]
    assert len({encoder.model_hash for encoder in found}) == 3
    assert ContextAverage(STATIC).model_hash == found[1].model_hash


def test_a_word_without_known_neighbors_has_zeros():
    (found,) = ContextAverage(STATIC).embed_iter([["unknown", "a"]])
    assert found[0, 1].tolist() == [0, 0] and found[0, 0].tolist() == STATIC.lookup(["a"])[0].tolist()


def test_the_mean_of_layers_comes_last(tiny_bilm):
    embedder = Embedder(tiny_bilm)
    (found,) = WithAverage(embedder).embed_iter([["a", "b"]])
    np.testing.assert_allclose(found[-1], found[:-1].mean(axis=0), rtol=1e-6)


def test_random_weights_have_the_architecture_and_repeat(tiny_bilm):
    embedder = Embedder(tiny_bilm)
    first, again = (random_embedder(embedder) for _ in range(2))
    assert first.bilm.config == embedder.bilm.config and first.model_hash == again.model_hash != embedder.model_hash


def test_boundaries_are_left_out(tiny_bilm):
    plain, bounded = (Embedder(tiny_bilm, keep_boundaries=keep) for keep in (False, True))
    for one, other in zip(
        token_layers(plain, [["a"], ["b", "c"]]), token_layers(bounded, [["a"], ["b", "c"]]), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_the_forward_half_knows_nothing_to_the_right(tiny_bilm):
    forward = ForwardHalf(Embedder(tiny_bilm))
    one, other = forward.embed_iter([["a", "b", "c", "d"], ["a", "b", "x", "y", "z"]])
    np.testing.assert_allclose(one[:, :2], other[:, :2], atol=1e-6)
    assert np.abs(one[1, 2] - other[1, 2]).max() > 1e-4
    (whole,) = Embedder(tiny_bilm).embed([["a", "b", "c", "d"]])
    np.testing.assert_array_equal(one, whole[:, :, : forward.layer_dim])


def test_a_model_of_one_direction_has_no_forward_half(tiny_config):
    one_direction = BiLM(dataclasses.replace(tiny_config, direction="forward"))
    with pytest.raises(ConfigError, match="one direction"):
        ForwardHalf(Embedder(one_direction))
