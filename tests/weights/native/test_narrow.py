"""One rounding in three places: of the files, of torch's products and of the plain engine. Bit for bit the same."""

import numpy as np
import pytest
import torch

from elmo.engine.plain import quantized_rows, to_bfloat16
from elmo.ops.product import quantize_rows, quantize_weight
from elmo.weights.native.narrow import bfloat16_bits, quantized


@pytest.fixture(params=[-44, -38, -36, -20, -3, 0, 3, 37], ids=lambda power: f"about 1e{power}")
def matrix(request):
    chance = np.random.default_rng(request.param + 50)
    values = chance.standard_normal((40, 33)).clip(-3, 3) * 10.0**request.param
    values[0] = 0
    values[1, 1:] = 0
    return values.astype(np.float32)


def test_weights_are_rounded_to_int8_alike(matrix):
    whole, steps = quantized(matrix)
    torch_whole, torch_steps = quantize_weight(torch.from_numpy(matrix))
    np.testing.assert_array_equal(whole, torch_whole.numpy())
    np.testing.assert_array_equal(steps, torch_steps.numpy())


def test_activations_are_rounded_to_int8_alike(matrix):
    whole, steps = quantized_rows(matrix)
    torch_whole, torch_steps = quantize_rows(torch.from_numpy(matrix))
    np.testing.assert_array_equal(whole, torch_whole.numpy())
    np.testing.assert_array_equal(steps, torch_steps.numpy())
    assert np.isfinite(whole * steps).all()
    assert np.abs(whole).max() <= 127


def test_bfloat16_is_rounded_alike(matrix):
    expected = torch.from_numpy(matrix).bfloat16()
    np.testing.assert_array_equal(bfloat16_bits(matrix), expected.view(torch.int16).numpy().view(np.uint16))
    np.testing.assert_array_equal(to_bfloat16(matrix), expected.float().numpy())
