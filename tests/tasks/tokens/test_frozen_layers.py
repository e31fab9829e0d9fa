"""FrozenLayers: what an encoder gives, live or remembered, exactly or with rounded products."""

import numpy as np
import pytest
import torch

from elmo.embed.embedder import Embedder
from elmo.errors import ConfigError
from elmo.tasks.tokens.frozen_layers import FrozenLayers

SENTENCES = [("the", "cat", "sat"), ("dogs",), ()]


@pytest.mark.parametrize("compute", ["bfloat16", "int8"])
def test_rounded_products_are_near_the_exact_ones_and_no_copies_of_them(tiny_bilm, compute):
    exact = FrozenLayers(tiny_bilm).batch(SENTENCES)
    rounded = FrozenLayers(Embedder(tiny_bilm, keep_boundaries=True, dtype=compute)).batch(SENTENCES)
    torch.testing.assert_close(rounded.layers, exact.layers, atol=0.05, rtol=0.05)
    assert not torch.equal(rounded.layers, exact.layers)
    assert torch.equal(rounded.mask, exact.mask)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dtype": "int8"}, "dtype 'int8'.* holds exact layers"),
        ({"state": "carry"}, "state 'carry'"),
        ({"state": "warm"}, "state 'warm'"),
    ],
)
def test_only_exact_layers_that_start_from_zeros_are_remembered(tiny_bilm, tmp_path, changes, message):
    warm_state = Embedder(tiny_bilm, keep_boundaries=True).warm_up(SENTENCES[:1])
    embedder = Embedder(tiny_bilm, keep_boundaries=True, warm_state=warm_state, **changes)
    with pytest.raises(ConfigError, match=message):
        FrozenLayers(embedder, cache=tmp_path)


class Lengths:
    """An encoder of one layer without boundaries: a token's vector is its length."""

    num_layers, layer_dim, model_hash, keep_boundaries = 1, 1, "ab" * 8, False

    def __init__(self):
        self.computed = []

    def embed_iter(self, sentences):
        for tokens in sentences:
            self.computed.append(tokens)
            yield np.array([[[len(token)] for token in tokens]], np.float32).reshape(1, -1, 1)


def test_any_encoder_is_remembered_and_padded(tmp_path):
    for cache, num_missing, num_computed in ((tmp_path, 3, 3), (tmp_path, 0, 0), (None, 0, 3)):
        frozen = FrozenLayers(Lengths(), cache=cache)
        assert frozen.remember(SENTENCES) == num_missing
        found = frozen.batch(SENTENCES)
        assert len(frozen.encoder.computed) == num_computed
        assert found.layers.tolist() == [[[[3], [3], [3]], [[4], [0], [0]], [[0], [0], [0]]]]
        assert found.mask.sum(dim=1).tolist() == [3, 1, 0]
