"""GRUs: the plain loop equals torch's own, the fast version equals the loop, outputs and gradients."""

import pytest
import torch
from torch import nn

from elmo.ops.gru import GRUWeights, gru_reference, grus_side_by_side

DIM, SIZE = 5, 3


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def random_weights(count: int) -> list[GRUWeights]:
    shapes = ((3 * SIZE, DIM), (3 * SIZE, SIZE), (3 * SIZE,), (3 * SIZE,))
    return [GRUWeights(*(torch.randn(shape, dtype=torch.float64).requires_grad_() for shape in shapes))
            for _ in range(count)]  # fmt: skip


def test_the_plain_loop_is_torchs_gru():
    torchs = nn.GRU(DIM, SIZE).double()
    weights = GRUWeights(torchs.weight_ih_l0, torchs.weight_hh_l0, torchs.bias_ih_l0, torchs.bias_hh_l0)
    inputs = torch.randn(7, 2, DIM, dtype=torch.float64)
    torch.testing.assert_close(gru_reference(inputs, weights), torchs(inputs)[0], rtol=0, atol=1e-14)


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (6, 1), (9, 3)])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_side_by_side_each_gives_the_values_and_gradients_of_the_loop(count, shape):
    weights = random_weights(count)
    inputs = torch.randn(count, *shape, DIM, dtype=torch.float64, requires_grad=True)
    found = grus_side_by_side(inputs, weights)
    plain = torch.stack([gru_reference(own, one) for own, one in zip(inputs, weights, strict=True)])
    torch.testing.assert_close(found, plain, rtol=0, atol=1e-14)
    asked = [inputs, *(tensor for one in weights for tensor in one)]
    wanted = torch.randn_like(plain)
    for own, other in zip(*(torch.autograd.grad((it * wanted).sum(), asked) for it in (found, plain)), strict=True):
        torch.testing.assert_close(own, other, rtol=0, atol=1e-12)


def test_a_gradient_that_does_not_lie_in_rows_is_taken_as_it_is():
    weights = random_weights(2)
    inputs = torch.randn(2, 4, 3, DIM, dtype=torch.float64, requires_grad=True)
    found = grus_side_by_side(inputs, weights)
    (whole,) = torch.autograd.grad(found.sum(), inputs, retain_graph=True)  # an expanded gradient
    (rows,) = torch.autograd.grad(found, inputs, torch.ones_like(found))
    torch.testing.assert_close(whole, rows)


@pytest.mark.parametrize("shape", [(0, 2), (2, 0)])
def test_without_tokens_or_rows_there_is_nothing_to_read(shape):
    weights = random_weights(2)
    inputs = torch.randn(2, *shape, DIM, dtype=torch.float64, requires_grad=True)
    found = grus_side_by_side(inputs, weights)
    assert found.shape == (2, *shape, SIZE)
    assert gru_reference(inputs[0], weights[0]).shape == (*shape, SIZE)
    found.sum().backward()
    assert weights[0].input_weight.grad is not None and not weights[0].input_weight.grad.any()


def test_gradients_of_inputs_that_are_data_are_not_computed():
    weights = random_weights(1)
    grus_side_by_side(torch.randn(1, 4, 2, DIM, dtype=torch.float64), weights).sum().backward()
    assert all(tensor.grad is not None for tensor in weights[0])
