"""ScalarMix: weights, gamma, the layer norms, the penalty."""

import numpy as np
import pytest
import torch

from elmo.model.scalar_mix import ScalarMix, normalize


@pytest.fixture
def layers():
    return torch.randn(3, 4, 6, 5, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def mask():
    return torch.arange(6)[None, :] < torch.tensor([6, 2, 3, 5])[:, None]


def test_a_mix_is_gamma_times_the_weighted_sum(layers, mask):
    mix = ScalarMix(3, raw_weights=(0.3, -0.7, 1.1))
    with torch.no_grad():
        mix.gamma.fill_(0.73)
    shares = np.exp([0.3, -0.7, 1.1]) / np.exp([0.3, -0.7, 1.1]).sum()
    expected = 0.73 * sum(share * layer.numpy() for share, layer in zip(shares, layers, strict=True))
    np.testing.assert_allclose(mix(layers, mask).detach(), expected, atol=1e-6)


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_a_fixed_mix_selects_a_layer_exactly(layers, mask, layer):
    raw = [-9e10] * 3
    raw[layer] = 1.0
    assert torch.equal(ScalarMix(3, raw_weights=raw, train_weights=False)(layers, mask), layers[layer])


def allennlp_layer_norm(layer, mask, epsilon):
    """The specification, 5.2, word by word."""
    mask = mask.astype(float)[:, :, None]
    count = layer.shape[2] * mask.sum()
    mean = (layer * mask).sum() / count
    variance = (((layer * mask - mean) * mask) ** 2).sum() / count
    return (layer - mean) / np.sqrt(variance + epsilon)


@pytest.mark.parametrize(("convention", "epsilon"), [("boundaries", 1e-13), ("words", 1e-12)])
def test_layer_norm_has_one_mean_and_variance_for_the_whole_batch(layers, mask, convention, epsilon):
    layers = layers.double() * 1e-6 + 3e-6  # so small that epsilon counts
    mix = ScalarMix(3, layer_norm=convention).double()
    expected = sum(allennlp_layer_norm(layer, mask.numpy(), epsilon) for layer in layers.numpy()) / 3
    np.testing.assert_allclose(mix(layers, mask).detach(), expected, rtol=1e-9)


def test_layer_norm_of_a_token_has_its_own_mean_and_variance(layers, mask):
    values = layers.double().numpy()
    mean, deviation = values.mean(axis=-1, keepdims=True), values.std(axis=-1, keepdims=True)
    mix = ScalarMix(3, layer_norm="token").double()
    found = mix(layers.double(), mask).detach()
    np.testing.assert_allclose(found, ((values - mean) / deviation).mean(axis=0), rtol=1e-9)
    assert torch.equal(mix(layers[:, :1].double(), mask[:1]), found[:1])  # whatever stands beside it


def test_layer_norm_is_not_touched_by_values_beyond_the_mask(layers, mask):
    expected = normalize(layers, mask, 1e-13)
    layers = torch.where(mask[None, :, :, None], layers, float("nan"))
    found = normalize(layers, mask, 1e-13)
    assert torch.equal(found[:, mask], expected[:, mask])


def test_layer_norm_of_no_position_is_finite(layers):
    mask = torch.zeros(4, 6, dtype=torch.bool)
    assert normalize(layers, mask, 1e-13).isfinite().all()
    assert ScalarMix(3, layer_norm="words")(layers[:, :0], mask[:0]).shape == (0, 6, 5)


def test_layers_in_half_precision_are_mixed_in_the_mix_own_precision(layers, mask):
    mixed = ScalarMix(3)(layers.bfloat16(), mask)
    assert mixed.dtype == torch.float32
    assert torch.allclose(mixed, layers.mean(dim=0), atol=2e-2)


def test_layer_norm_of_a_large_batch_in_float16_equals_that_in_float32():
    layers = torch.randn(1, 40, 20, 100, generator=torch.Generator().manual_seed(3)).half()  # their squares: 80,000
    mask = torch.ones(40, 20, dtype=torch.bool)
    found, expected = normalize(layers, mask, 1e-13), normalize(layers.float(), mask, 1e-13)
    assert found.dtype == torch.float16
    assert (found - expected).abs().max() <= 2**-11 * expected.abs().max()  # half of the last bit
