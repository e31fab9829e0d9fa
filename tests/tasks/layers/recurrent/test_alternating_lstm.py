"""The layer is the operation with its own weights, which start orthogonal, and with one mask for a sentence."""

import torch

from elmo.ops.alternating_lstm import alternating_lstm_reference
from elmo.tasks.layers.recurrent.alternating_lstm import AlternatingLSTM


def layer(**changes):
    torch.manual_seed(0)
    return AlternatingLSTM(**{"input_dim": 7, "size": 4, "num_layers": 3, **changes})


def rows():
    mask = torch.arange(5)[None] < torch.tensor([5, 0, 2])[:, None]
    return torch.randn(3, 5, 7).masked_fill(~mask[:, :, None], torch.nan), mask


def test_it_is_the_plain_loop_and_ignores_what_is_beyond_a_row():
    lstm, (vectors, mask) = layer(), rows()
    expected, _ = alternating_lstm_reference(vectors, mask.sum(dim=1), [own.weights() for own in lstm.layers])
    torch.testing.assert_close(lstm(vectors, mask), expected)
    assert lstm(vectors[:0], mask[:0]).shape == (0, 5, 4)
    assert lstm(vectors[:, :0], mask[:, :0]).shape == (3, 0, 4)


def test_blocks_start_orthogonal_and_forget_biases_at_one():
    for own in layer().layers:
        for block in [*own.input_weight.split(4), *own.state_weight.split(4)]:
            torch.testing.assert_close(block @ block.T, torch.eye(4), atol=1e-5, rtol=0)
        assert own.state_bias.tolist() == [0.0] * 4 + [1.0] * 4 + [0.0] * 12


def test_dropout_is_on_the_recurrent_state_only_and_in_training_only():
    lstm, (vectors, mask) = layer(recurrent_dropout=0.5, num_layers=1), rows()
    trained = lstm(vectors, mask)
    plain = lstm.eval()(vectors, mask)
    torch.testing.assert_close(trained[:, 0], plain[:, 0])  # the first step has no previous state
    assert not torch.allclose(trained[0, 4], plain[0, 4])


def test_all_weights_have_gradients():
    lstm, (vectors, mask) = layer(recurrent_dropout=0.1), rows()
    lstm(vectors, mask).square().sum().backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in lstm.parameters())
