"""Dropout: torch's in everything but which places are drawn."""

import math

import pytest
import torch
from torch import nn

from elmo.ops.dropout import Dropout, kept

SHAPE = (7, 50, 300)


def sigmas(count: float, number: int, chance: float) -> float:
    """By how many standard deviations a binomial count is off."""
    return abs(count - number * chance) / math.sqrt(number * chance * (1 - chance))


@pytest.mark.parametrize("dropped", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_each_place_stays_with_its_probability(dropped, dtype):
    torch.manual_seed(1)
    mask = kept(torch.empty(SHAPE, dtype=dtype), dropped)
    assert set(mask.unique().tolist()) == {0.0, 1.0}
    assert sigmas(mask.sum(dtype=torch.float64).item(), mask.numel(), 1 - dropped) < 4
    # Neighbors don't know of each other, in either direction.
    for one, other in ((mask[..., 1:], mask[..., :-1]), (mask[:, 1:], mask[:, :-1])):
        both = (one * other).sum(dtype=torch.float64).item()
        assert sigmas(both, one.numel(), (1 - dropped) ** 2) < 8


def test_a_generator_decides_everything():
    first, again, next_one = (torch.Generator().manual_seed(seed) for seed in (3, 3, 4))
    masks = [kept(torch.empty(SHAPE), 0.5, generator) for generator in (first, again, next_one)]
    assert masks[0].equal(masks[1])
    assert not masks[0].equal(masks[2])
    assert not masks[0].equal(kept(torch.empty(SHAPE), 0.5, first))


def test_what_stays_is_scaled_up_and_so_is_its_gradient():
    layer = Dropout(0.4).train()
    vectors = torch.rand(SHAPE, dtype=torch.float64).add(1).requires_grad_()
    out = layer(vectors)
    stays = out != 0
    torch.testing.assert_close(out[stays], vectors[stays] / 0.6)
    assert sigmas(stays.sum().item(), stays.numel(), 0.6) < 4
    out.sum().backward()
    torch.testing.assert_close(vectors.grad, stays.double() / 0.6)


@pytest.mark.parametrize("layer", [Dropout(0.5).eval(), Dropout(0.0).train()])
def test_nothing_happens_outside_of_training(layer):
    vectors = torch.randn(3, 4)
    assert layer(vectors) is vectors or layer(vectors).equal(vectors)


def test_everything_may_be_dropped():
    assert Dropout(1.0).train()(torch.randn(3, 4)).equal(torch.zeros(3, 4))


def test_in_place_it_is_torchs():
    vectors = torch.ones(1000)
    assert Dropout(0.5, inplace=True).train()(vectors) is vectors
    assert set(vectors.unique().tolist()) == {0.0, 2.0}


def test_it_is_torchs_layer_to_who_looks_for_those():
    layer = Dropout(0.3)
    assert isinstance(layer, nn.Dropout)
    assert repr(layer) == repr(nn.Dropout(0.3))
    with pytest.raises(ValueError, match="probability"):
        Dropout(1.5)
