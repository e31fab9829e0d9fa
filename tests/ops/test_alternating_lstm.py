"""The alternating highway LSTM equals the original's values and gradients, whatever lies beyond the rows."""

import numpy as np
import pytest
import torch

from elmo.ops.alternating_lstm import HighwayWeights, alternating_lstm

GOLDEN = [
    "layers2_bias",
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
def test_values_and_gradients_equal_the_originals(golden_folder, name, dtype):
    with np.load(golden_folder / "tasks" / "alternating_highway_lstm" / f"{name}.npz") as file:
        arrays = dict(file)
    kind, tolerance = ("f64", 1e-10) if dtype == torch.float64 else ("f32", 2e-5)
    near = {"rtol": tolerance if kind == "f32" else 0, "atol": tolerance}
    layers = golden_layers(arrays, dtype)
    inputs = torch.from_numpy(arrays["input"]).to(dtype).requires_grad_()
    masks = torch.from_numpy(arrays["recurrent_masks"]).to(dtype) if "recurrent_masks" in arrays else None
    outputs = alternating_lstm(inputs, torch.from_numpy(arrays["lengths"]), layers, masks)
    np.testing.assert_allclose(outputs.detach(), arrays[f"output_{kind}"], **near)
    if "grad_coefficients" in arrays and dtype == torch.float64:
        (outputs * torch.from_numpy(arrays["grad_coefficients"])).sum().backward()
        np.testing.assert_allclose(inputs.grad, arrays["grad_input_f64"], atol=1e-10)
        for number, weights in enumerate(layers):
            for part, tensor in weights._asdict().items():
                if tensor is not None:
                    np.testing.assert_allclose(tensor.grad, arrays[f"grad_layer{number}.{part}_f64"], atol=1e-10)


def random_case(lengths: list[int], dtype: torch.dtype):
    """Inputs that are NaN after each row's end, lengths, three layers and masks."""
    torch.manual_seed(0)
    dims = [(24, 5), (24, 4), (24, 4)]
    layers = [
        HighwayWeights(*(torch.randn(*shape, dtype=dtype) / 2 for shape in (dim, (24,), (20, 4), (20,))))
        for dim in dims
    ]
    tokens = max(lengths, default=0) + 1
    beyond = torch.arange(tokens) >= torch.tensor(lengths, dtype=torch.int64)[:, None]
    inputs = torch.randn(len(lengths), tokens, 5, dtype=dtype).masked_fill(beyond[:, :, None], torch.nan)
    masks = (torch.rand(3, len(lengths), 4) < 0.7).to(dtype) / 0.7
    return inputs.requires_grad_(), torch.tensor(lengths, dtype=torch.int64), layers, masks


@pytest.mark.parametrize("lengths", LENGTHS)
def test_each_row_is_what_it_is_alone(lengths):
    inputs, at, layers, masks = random_case(lengths, torch.float64)
    found = alternating_lstm(inputs, at, layers, masks)
    for row, length in enumerate(lengths):
        alone = alternating_lstm(inputs[row : row + 1, :length], at[row : row + 1], layers, masks[:, row : row + 1])
        torch.testing.assert_close(found[row, :length], alone[0], rtol=0, atol=1e-14)
        assert not found[row, length:].any()
    found.sum().backward()
    assert inputs.grad is not None and not inputs.grad.isnan().any()


def test_autocast_stays_close():
    inputs, at, layers, masks = random_case([4, 2, 4, 1], torch.float32)
    expected = alternating_lstm(inputs, at, layers, masks)
    with torch.autocast("cpu", torch.bfloat16):
        found = alternating_lstm(inputs, at, layers, masks)
    torch.testing.assert_close(found, expected, rtol=0, atol=0.1)
