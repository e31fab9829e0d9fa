"""The alternating highway LSTM: the plain loop equals the original's values, the packed version equals the loop."""

import numpy as np
import pytest
import torch

from elmo.ops import native, native_passes
from elmo.ops.alternating_lstm import (
    HighwayWeights,
    LSTMState,
    alternating_lstm_packed,
    alternating_lstm_reference,
)

VERSIONS = [alternating_lstm_reference, alternating_lstm_packed]
GOLDEN = [
    "layers2_bias",
    "layers2_initial_state",
    "layers2_nobias",
    "layers3_gradients",
    "layers3_unsorted",
    "layers4_recurrent_dropout",
    "layers8_bias",
    "layers8_nobias",
]
LENGTHS = [[3], [4, 2, 4, 1], [2, 0, 5], [0, 0], [], [1, 1, 1]]


def golden_layers(arrays, dtype) -> list[HighwayWeights]:
    def tensor(name):
        return torch.from_numpy(arrays[name]).to(dtype).requires_grad_() if name in arrays else None

    names = ("input_weight", "input_bias", "state_weight", "state_bias")
    count = sum(name.endswith(".state_bias") for name in arrays)
    return [HighwayWeights(*(tensor(f"layer{layer}.{name}") for name in names)) for layer in range(count)]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("name", GOLDEN)
@pytest.mark.parametrize("version", VERSIONS)
def test_values_and_gradients_equal_the_originals(golden_folder, version, name, dtype):
    with np.load(golden_folder / "tasks" / "alternating_highway_lstm" / f"{name}.npz") as file:
        arrays = dict(file)
    kind, tolerance = ("f64", 1e-10) if dtype == torch.float64 else ("f32", 2e-5)
    near = {"rtol": tolerance if kind == "f32" else 0, "atol": tolerance}
    layers = golden_layers(arrays, dtype)
    inputs = torch.from_numpy(arrays["input"]).to(dtype).requires_grad_()
    state = None
    if "initial_h" in arrays:
        state = LSTMState(*(torch.from_numpy(arrays[f"initial_{part}"]).to(dtype) for part in "hc"))
    masks = torch.from_numpy(arrays["recurrent_masks"]).to(dtype) if "recurrent_masks" in arrays else None
    outputs, final = version(inputs, torch.from_numpy(arrays["lengths"]), layers, state, masks)
    np.testing.assert_allclose(outputs.detach(), arrays[f"output_{kind}"], **near)
    for part, found in zip("hc", final, strict=True):
        if f"final_{part}_{kind}" in arrays:
            np.testing.assert_allclose(found.detach(), arrays[f"final_{part}_{kind}"], **near)
    if "grad_coefficients" in arrays and dtype == torch.float64:
        (outputs * torch.from_numpy(arrays["grad_coefficients"])).sum().backward()
        np.testing.assert_allclose(inputs.grad, arrays["grad_input_f64"], atol=1e-10)
        for number, weights in enumerate(layers):
            for part, tensor in weights._asdict().items():
                if tensor is not None:
                    np.testing.assert_allclose(tensor.grad, arrays[f"grad_layer{number}.{part}_f64"], atol=1e-10)


def random_case(lengths, *, num_layers=3, dim=5, size=4, biased=True, dtype=torch.float64, seed=0):
    """Inputs that are NaN after each row's end, weights, a starting state and masks."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64).div(shape[-1] ** 0.5).to(dtype)

    layers = [
        HighwayWeights(
            normal(6 * size, size if number else dim),
            normal(6 * size) if biased else None,
            normal(5 * size, size),
            normal(5 * size),
        )
        for number in range(num_layers)
    ]
    batch, tokens = len(lengths), max(lengths, default=0) + 1
    lengths = torch.tensor(lengths, dtype=torch.int64)
    beyond = torch.arange(tokens) >= lengths[:, None]
    inputs = normal(batch, tokens, dim).masked_fill(beyond[:, :, None], torch.nan)
    state = LSTMState(normal(num_layers, batch, size), normal(num_layers, batch, size))
    masks = (torch.rand(num_layers, batch, size, generator=generator) < 0.7).to(dtype) / 0.7
    return inputs, lengths, layers, state, masks


def results(version, inputs, lengths, layers, state, masks):
    """Outputs, final state and the gradients of a sum of all of them, each with its own factor."""
    inputs = inputs.clone().requires_grad_()
    layers = [HighwayWeights(*(None if w is None else w.clone().requires_grad_() for w in layer)) for layer in layers]
    state = state and LSTMState(*(tensor.clone().requires_grad_() for tensor in state))
    outputs, final = version(inputs, lengths, layers, state, masks)
    generator = torch.Generator().manual_seed(9)
    parts = (outputs, *final)
    factors = [torch.randn(part.shape, generator=generator, dtype=torch.float64).to(part.dtype) for part in parts]
    sum((part * factor).sum() for part, factor in zip(parts, factors, strict=True)).backward()
    leaves = [inputs, *(w for layer in layers for w in layer if w is not None), *(state or ())]
    return [*parts, *(leaf.grad for leaf in leaves)]


@pytest.mark.usefixtures("poisoned_memory")
@pytest.mark.parametrize("extras", ["state and masks", "masks", "neither"])
@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("lengths", LENGTHS)
def test_packed_equals_the_reference_in_values_and_gradients(lengths, biased, extras):
    inputs, at, layers, state, masks = random_case(lengths, biased=biased)
    state, masks = state if "state" in extras else None, masks if "masks" in extras else None
    expected = results(alternating_lstm_reference, inputs, at, layers, state, masks)
    found = results(alternating_lstm_packed, inputs, at, layers, state, masks)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


@pytest.mark.usefixtures("poisoned_memory")
@pytest.mark.parametrize("uses_native", [True, False])
@pytest.mark.parametrize("size", [1, 16, 37])
def test_packed_in_float32_stays_close_to_float64(size, uses_native, monkeypatch):
    if uses_native and native.library() is None:
        pytest.skip("the native library is not here")
    if not uses_native:
        monkeypatch.setattr(native_passes, "ran", lambda *_, **__: False)
    inputs, at, layers, state, masks = random_case([9, 2, 6, 9], size=size, dim=11, num_layers=4, dtype=torch.float32)
    exact = [tensor.double() for tensor in (inputs, masks)]
    exact_layers = [HighwayWeights(*(w.double() for w in layer)) for layer in layers]
    exact_state = LSTMState(*(tensor.double() for tensor in state))
    expected = results(alternating_lstm_reference, exact[0], at, exact_layers, exact_state, exact[1])
    for one, other in zip(results(alternating_lstm_packed, inputs, at, layers, state, masks), expected, strict=True):
        torch.testing.assert_close(one.double(), other, rtol=2e-5, atol=2e-5)
