"""The projected LSTM: the plain loop equals elmo.reference, and every version the loop, in values and gradients."""

import numpy as np
import pytest
import torch

from elmo import reference
from elmo.config import LSTMSettings
from elmo.ops.projected_lstm import (
    LayerWeights,
    packed,
    padded,
    projected_lstm_packed,
    projected_lstm_padded,
    projected_lstm_reference,
    projected_lstm_window,
)
from elmo.ops.projected_lstm.reference import step
from elmo.ops.projected_lstm.window_graphs import WindowGraphs

SETTINGS = {
    "published clips": LSTMSettings(1.0, 3.0, 3.0),
    "clips that bite": LSTMSettings(1.0, 0.5, 0.2),
    "unequal clips": LSTMSettings(0.0, 0.3, None),
    "no clips": LSTMSettings(1.0, None, None),
}


@pytest.fixture(params=list(SETTINGS))
def settings(request):
    return SETTINGS[request.param]


def random_layer(seed, dim=5, projection=4, cell=7, dtype=torch.float64, projected=True):
    generator = torch.Generator().manual_seed(seed)
    projection = projection if projected else cell

    def normal(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)

    return LayerWeights(
        normal(4 * cell, dim),
        normal(4 * cell, projection),
        normal(4 * cell),
        normal(projection, cell) if projected else None,
    )


def random_rows(seed, lengths, weights):
    """Inputs that are NaN beyond each row's length, and a starting state."""
    generator = torch.Generator().manual_seed(seed)
    batch, tokens, dtype = len(lengths), max(lengths, default=0), weights.bias.dtype
    inputs = torch.randn(batch, tokens, weights.input_weight.shape[1], generator=generator, dtype=torch.float64)
    lengths = torch.tensor(lengths, dtype=torch.int64)
    beyond = torch.arange(tokens)[None, :] >= lengths[:, None]
    inputs = inputs.masked_fill(beyond[:, :, None], float("nan"))
    hidden = torch.randn(batch, weights.recurrent_weight.shape[1], generator=generator, dtype=torch.float64)
    cell = torch.randn(batch, weights.cell_size, generator=generator, dtype=torch.float64)
    return inputs.to(dtype), lengths, hidden.to(dtype), cell.to(dtype)


@pytest.mark.parametrize("projected", [True, False])
def test_one_step_is_the_references(settings, projected):
    weights = random_layer(0, projected=projected)
    inputs, _, hidden, cell = random_rows(1, [1, 1, 1], weights)
    found = step(inputs[:, 0], hidden, cell, weights, settings)
    arrays = [None if tensor is None else tensor.numpy() for tensor in weights]
    for row in range(len(inputs)):
        state = (values[row].numpy() for values in (inputs[:, 0], hidden, cell))
        expected = reference.lstm_step(*state, *arrays, *settings)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one[row], other, atol=1e-13)


@pytest.mark.usefixtures("poisoned_memory")
@pytest.mark.parametrize("projected", [True, False])
@pytest.mark.parametrize("tokens_ahead", [1, 5, 4096])
@pytest.mark.parametrize("lengths", [[3], [1, 0, 6, 6, 1, 2], [0, 0], [1, 1], [], [2, 9, 4]])
def test_packed_and_padded_equal_the_reference(settings, projected, lengths, tokens_ahead, monkeypatch):
    monkeypatch.setattr(padded, "_TOKENS_AHEAD", tokens_ahead)
    monkeypatch.setattr(packed, "_TOKENS_AHEAD", tokens_ahead)
    weights = random_layer(len(lengths), projected=projected)
    rows = random_rows(7, lengths, weights)
    before = [tensor.clone() for tensor in rows]
    plain = projected_lstm_reference(*rows, weights, settings)
    for read in (projected_lstm_packed, projected_lstm_padded):
        for expected, found in zip(plain, read(*rows, weights, settings), strict=True):
            torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    for tensor, unchanged in zip(rows, before, strict=True):
        torch.testing.assert_close(tensor, unchanged, rtol=0, atol=0, equal_nan=True)


def test_rows_are_read_on_their_own(settings):
    weights = random_layer(2)
    inputs, lengths, hidden, cell = random_rows(3, [4, 1, 0, 6], weights)
    outputs, new_hidden, new_cell = projected_lstm_reference(inputs, lengths, hidden, cell, weights, settings)
    for row, length in enumerate(lengths.tolist()):
        state = hidden[row : row + 1], cell[row : row + 1]
        for t in range(length):
            state = step(inputs[row : row + 1, t], *state, weights, settings)
            torch.testing.assert_close(outputs[row, t], state[0][0])
        torch.testing.assert_close((new_hidden[row], new_cell[row]), (state[0][0], state[1][0]))
        assert not outputs[row, length:].any()


def window_plainly(inputs, hidden, cell, weights, settings, keep):
    """The reference's step under autograd; the starting state is given, not learned."""
    hidden, cell, outputs = hidden.detach(), cell.detach(), []
    for t, vectors in enumerate(inputs):
        kept = 1 if keep is None else keep[t, :, None]
        hidden, cell = step(vectors, hidden * kept, cell * kept, weights, settings)
        outputs.append(hidden)
    return torch.stack(outputs), hidden, cell


def with_gradients(run, inputs, hidden, cell, weights, settings, *rest):
    """(outputs, hidden, cell) and the gradients of inputs and weights, of a loss that uses every output."""
    inputs = inputs.clone().requires_grad_()
    weights = LayerWeights(*(None if tensor is None else tensor.clone().requires_grad_() for tensor in weights))
    outputs, *state = run(inputs, hidden, cell, weights, settings, *rest)
    steps = torch.arange(1, outputs.numel() + 1, dtype=outputs.dtype).view(outputs.shape)
    (outputs * torch.sin(steps)).sum().backward()
    return [outputs, *state], [inputs.grad, *(tensor.grad for tensor in weights if tensor is not None)]


@pytest.mark.usefixtures("poisoned_memory")
@pytest.mark.parametrize("projected", [True, False])
@pytest.mark.parametrize("forgetting", [False, True])
@pytest.mark.parametrize(("tokens", "batch"), [(1, 1), (6, 3), (20, 2)])
def test_window_equals_the_reference_in_values_and_gradients(settings, projected, forgetting, tokens, batch):
    weights = random_layer(tokens, projected=projected)
    inputs, _, hidden, cell = random_rows(batch, [tokens] * batch, weights)
    keep = (
        (torch.rand(tokens, batch, generator=torch.Generator().manual_seed(0)) > 0.3).double() if forgetting else None
    )
    arguments = (inputs.transpose(0, 1), hidden, cell, weights, settings, keep)
    found, expected = with_gradients(projected_lstm_window, *arguments), with_gradients(window_plainly, *arguments)
    for one, other in zip([*found[0], *found[1]], [*expected[0], *expected[1]], strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-10)


def scaled_down(weights):
    """So small that the gates don't saturate."""
    return LayerWeights(*(None if tensor is None else tensor / np.sqrt(tensor.shape[-1]) for tensor in weights))


@pytest.mark.usefixtures("poisoned_memory")
@pytest.mark.parametrize(("product_dtype", "tolerance"), [(None, 1e-5), (torch.bfloat16, 1e-2)])
@pytest.mark.parametrize(("seed", "projected"), [*((seed, True) for seed in range(8)), (8, False), (9, False)])
def test_window_in_less_precision_stays_next_to_float64(seed, projected, product_dtype, tolerance):
    """Difference in norm, relative to the whole: 1e-5 in float32, 1e-2 with bfloat16 factors."""
    exact = scaled_down(random_layer(seed, dim=24, projection=24, cell=48, projected=projected))
    inputs, _, hidden, cell = random_rows(seed, [20] * 4, exact)
    single = [tensor.float() for tensor in (inputs.transpose(0, 1), hidden, cell)]
    weights = LayerWeights(*(None if tensor is None else tensor.float() for tensor in exact))
    settings = LSTMSettings()
    expected = with_gradients(window_plainly, inputs.transpose(0, 1), hidden, cell, exact, settings, None)
    found = with_gradients(projected_lstm_window, *single, weights, settings, None, product_dtype)
    for one, other in zip([*found[0], *found[1]], [*expected[0], *expected[1]], strict=True):
        assert one.dtype == torch.float32
        assert (one.double() - other).norm() <= tolerance * other.norm()


def test_no_gradient_flows_into_the_starting_state_of_a_window():
    weights = random_layer(0)
    inputs, _, hidden, cell = random_rows(1, [3, 3], weights)
    hidden.requires_grad_()
    cell.requires_grad_()
    weights.bias.requires_grad_()
    outputs, new_hidden, new_cell = projected_lstm_window(inputs.transpose(0, 1), hidden, cell, weights, LSTMSettings())
    outputs.sum().backward()
    assert hidden.grad is None
    assert cell.grad is None
    assert not new_hidden.requires_grad
    assert not new_cell.requires_grad


def test_what_is_done_later_with_the_state_does_not_reach_the_gradients():
    weights = random_layer(0)
    inputs, _, hidden, cell = random_rows(1, [4, 4], weights)

    def spoil(*arguments):
        outputs, new_hidden, new_cell = projected_lstm_window(*arguments)
        new_hidden.fill_(float("nan"))
        new_cell.fill_(float("nan"))
        return outputs, new_hidden, new_cell

    arguments = (inputs.transpose(0, 1), hidden, cell, weights, LSTMSettings())
    for one, other in zip(
        with_gradients(spoil, *arguments)[1], with_gradients(projected_lstm_window, *arguments)[1], strict=True
    ):
        assert torch.equal(one, other)


@pytest.mark.parametrize("with_keep", [False, True])
def test_windows_that_are_replayed_are_the_windows(with_keep, monkeypatch):
    """Without a GPU: what would be recorded is called again, with the arguments of the replay."""
    recorded = []

    def record(window, samples):
        recorded.append(samples)
        return window

    monkeypatch.setattr(torch.cuda, "make_graphed_callables", record)
    graphs, generator = WindowGraphs(), torch.Generator().manual_seed(5)
    layers = [random_layer(seed, projected=seed % 2 == 0) for seed in range(4)]
    layers = [LayerWeights(*(one if one is None else one.float().requires_grad_() for one in them)) for them in layers]
    for weights in layers:
        width = weights.recurrent_weight.shape[1]
        inputs = torch.randn(6, 3, weights.input_weight.shape[1], generator=generator).requires_grad_()
        state = torch.randn(3, width, generator=generator), torch.randn(3, weights.cell_size, generator=generator)
        keep = (torch.rand(6, 3, generator=generator) > 0.3).float() if with_keep else None
        given = inputs, *state, weights, SETTINGS["clips that bite"], keep
        leaves = [inputs, *(one for one in weights if one is not None)]
        for _ in range(2):
            found, expected = graphs(*given), projected_lstm_window(*given)
            assert not found[1].requires_grad and not found[2].requires_grad
            for one, other in zip(found, expected, strict=True):
                assert torch.equal(one, other)
            gradients = (torch.autograd.grad(outputs.square().sum(), leaves) for outputs, *_ in (found, expected))
            assert all(map(torch.equal, *gradients))
    assert len(recorded) == 4  # each layer once
