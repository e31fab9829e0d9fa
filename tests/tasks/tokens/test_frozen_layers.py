"""FrozenLayers: what the biLM says, live or remembered, exactly or with rounded products."""

import pytest
import torch

from elmo.tasks.tokens.frozen_layers import FrozenLayers

SENTENCES = [("the", "cat", "sat"), ("dogs",), ()]


@pytest.mark.parametrize("compute", ["bfloat16", "int8"])
def test_rounded_products_are_near_the_exact_ones_and_no_copies_of_them(tiny_bilm, compute):
    exact = FrozenLayers(tiny_bilm).batch(SENTENCES)
    rounded = FrozenLayers(tiny_bilm, compute=compute).batch(SENTENCES)
    torch.testing.assert_close(rounded.layers, exact.layers, atol=0.05, rtol=0.05)
    assert not torch.equal(rounded.layers, exact.layers)
    assert torch.equal(rounded.mask, exact.mask)


def test_what_is_remembered_was_computed_exactly(tiny_bilm, tmp_path):
    frozen = FrozenLayers(tiny_bilm, cache=tmp_path, compute="int8")
    assert frozen.remember(SENTENCES, quiet=True) > 0
    assert torch.equal(frozen.batch(SENTENCES).layers, FrozenLayers(tiny_bilm).batch(SENTENCES).layers)
