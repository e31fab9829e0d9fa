"""The LSTM with coupled gates equals a plain loop over each sentence alone, in outputs and gradients."""

import pytest
import torch

from elmo.ops.alternating_lstm import alternating_lstm
from elmo.tasks.layers import recurrent
from elmo.tasks.layers.recurrent import AlternatingLSTM, BiGRU, BiLSTM, CoupledLSTM, VariationalDropout


@pytest.fixture
def bilstm() -> BiLSTM:
    torch.manual_seed(0)
    return BiLSTM(3, (4, 5)).eval()


def mask_of(*lengths: int) -> torch.Tensor:
    return torch.arange(max(lengths, default=0))[None] < torch.tensor(lengths)[:, None]


def test_each_row_equals_the_plain_lstms_on_it_alone(bilstm):
    vectors = torch.randn(3, 6, 3)
    mask = mask_of(6, 1, 4)
    vectors[~mask] = torch.nan
    found = bilstm(vectors, mask)
    for row, length in enumerate((6, 1, 4)):
        plain = vectors[row : row + 1, :length]
        for forward, backward in bilstm.layers:
            plain = torch.cat([forward(plain)[0], backward(plain.flip(1))[0].flip(1)], dim=2)
        torch.testing.assert_close(found[row, :length], plain[0])
        assert (found[row, length:] == 0).all()


def test_what_stands_between_is_read_by_the_second_layer():
    model = BiLSTM(5, (4, 3), between_dim=2).eval()
    vectors, between = torch.randn(2, 6, 5), torch.randn(2, 6, 2)
    mask = torch.arange(6) < torch.tensor([[6], [4]])
    found = model(vectors, mask, between * mask[:, :, None])
    first, second = BiLSTM(5, (4,)), BiLSTM(10, (3,))
    first.layers[0].load_state_dict(model.layers[0].state_dict())
    second.layers[0].load_state_dict(model.layers[1].state_dict())
    torch.testing.assert_close(found, second(torch.cat([first(vectors, mask), between], dim=2), mask))


@pytest.mark.parametrize("layer", [BiLSTM(4, (2, 3)), BiGRU(4, 3), CoupledLSTM(4, 3)], ids=type)
def test_empty_sentences_and_batches_have_no_vectors(layer):
    found = layer(torch.randn(2, 3, 4), mask_of(3, 0))
    assert (found[1] == 0).all() and found[0].abs().sum() > 0
    assert layer(torch.zeros(2, 0, 4), mask_of(0, 0)).shape == (2, 0, 6)


def test_what_stands_behind_a_row_has_no_gradient(bilstm):
    vectors = torch.randn(2, 4, 3, requires_grad=True)
    mask = mask_of(4, 2)
    bilstm(vectors, mask).square().sum().backward()
    assert (vectors.grad[~mask] == 0).all()
    assert (vectors.grad[mask].abs().sum(dim=1) > 0).all()


def test_recurrent_weights_begin_orthogonal_and_forget_biases_at_one(bilstm):
    for lstm in (lstm for layer in bilstm.layers for lstm in layer):
        size = lstm.hidden_size
        for gate in lstm.weight_hh_l0.split(size):
            torch.testing.assert_close(gate @ gate.T, torch.eye(size), atol=1e-5, rtol=0)
        bias = (lstm.bias_ih_l0 + lstm.bias_hh_l0).tolist()
        assert bias == [0.0] * size + [1.0] * size + [0.0] * 2 * size


def test_variational_dropout_has_one_mask_for_all_tokens_of_a_sentence():
    torch.manual_seed(0)
    dropped = VariationalDropout(0.5)(torch.ones(8, 5, 100))
    assert (dropped == dropped[:, :1]).all()
    assert sorted(dropped.unique().tolist()) == [0.0, 2.0]
    assert not torch.equal(dropped[0], dropped[1])
    assert abs(dropped.mean().item() - 1) < 0.1
    still = VariationalDropout(0.5).eval()
    assert torch.equal(still(dropped), dropped)


def layer(**changes):
    torch.manual_seed(0)
    return AlternatingLSTM(**{"input_dim": 7, "size": 4, "num_layers": 3, **changes})


def rows():
    mask = torch.arange(5)[None] < torch.tensor([5, 0, 2])[:, None]
    return torch.randn(3, 5, 7).masked_fill(~mask[:, :, None], torch.nan), mask


def test_it_is_the_operation_and_ignores_what_is_beyond_a_row():
    lstm, (vectors, mask) = layer(), rows()
    expected = alternating_lstm(vectors, mask.sum(dim=1), [own.weights() for own in lstm.layers])
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


def test_what_recurrent_dropout_keeps_is_scaled(monkeypatch):
    monkeypatch.setattr(recurrent, "kept", lambda masks, _: torch.ones_like(masks))
    lstm, (vectors, mask) = layer(recurrent_dropout=0.75), rows()
    trained = lstm(vectors, mask)
    for own in lstm.layers:
        own.state_weight.data.mul_(4)
    torch.testing.assert_close(trained, lstm.eval()(vectors, mask))


def test_each_row_equals_torchs_bidirectional_gru_on_it_alone():
    torch.manual_seed(0)
    layer, plain = BiGRU(4, 3), torch.nn.GRU(4, 3, batch_first=True, bidirectional=True)
    for own, suffix in ((layer.forward_gru, ""), (layer.backward_gru, "_reverse")):
        for name, parameter in own.named_parameters():
            parameter.data.normal_()
            getattr(plain, name + suffix).data.copy_(parameter)
    lengths = [5, 1, 3]
    vectors = torch.full((3, 6, 4), torch.nan)
    mask = torch.arange(6)[None, :] < torch.tensor(lengths)[:, None]
    vectors[mask] = torch.randn(9, 4)
    found = layer(vectors, mask)
    assert (found[~mask] == 0).all()
    found.sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in layer.parameters())
    for row, length in enumerate(lengths):
        torch.testing.assert_close(found[row, :length], plain(vectors[row : row + 1, :length])[0][0])


LENGTHS = [3, 5, 0, 1]


def plain_direction(layer, direction, vectors, kept):
    """One sentence in one direction, a step at a time."""
    hidden, cell = layer.first_hidden[direction, 0], layer.first_cell[direction, 0]
    found = []
    for vector in vectors:
        gates = vector @ layer.input_weight[direction] + layer.bias[direction]
        gates = gates + (hidden * kept) @ layer.state_weight[direction]
        i, j, o = gates.chunk(3)
        cell = (1 - torch.sigmoid(i)) * cell + torch.sigmoid(i) * torch.tanh(j)
        hidden = torch.sigmoid(o) * torch.tanh(cell)
        found.append(hidden)
    return torch.stack(found)


def plain(layer, vectors, kept):
    """All sentences, each alone; `kept`: (direction, sentence, size)."""
    rows = torch.zeros(len(LENGTHS), vectors.shape[1], layer.output_dim, dtype=vectors.dtype)
    for row, length in enumerate(LENGTHS):
        if length:
            ahead = plain_direction(layer, 0, vectors[row, :length], kept[0, row])
            back = plain_direction(layer, 1, vectors[row, :length].flip(0), kept[1, row]).flip(0)
            rows[row, :length] = torch.cat([ahead, back], dim=1)
    return rows


def network(dropout=0.0):
    torch.manual_seed(0)
    layer = CoupledLSTM(4, 3, dropout).double()
    layer.bias.data.normal_()
    mask = torch.arange(6)[None, :] < torch.tensor(LENGTHS)[:, None]
    vectors = torch.randn(len(LENGTHS), 6, 4, dtype=torch.float64)
    return layer, vectors, mask


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_outputs_and_gradients_equal_a_plain_loop(dropout, monkeypatch):
    layer, vectors, mask = network(dropout)
    drawn = torch.ones(2, 4, 3, dtype=torch.float64)
    if dropout:
        drawn = torch.nn.functional.dropout(drawn, dropout)
        monkeypatch.setattr(layer.dropout, "forward", lambda _: drawn)
    # Inside, sentences are sorted by length: the plain loop's masks must follow.
    order = torch.tensor(LENGTHS).sort(descending=True, stable=True).indices
    kept = drawn[:, order.argsort()]
    poisoned = torch.where(mask[:, :, None], vectors, torch.nan).requires_grad_()
    vectors = vectors.clone().requires_grad_()
    fast, slow = layer(poisoned, mask), plain(layer, vectors, kept)
    torch.testing.assert_close(fast, slow)
    upstream = torch.randn_like(fast)
    weights = list(layer.parameters())
    ours = torch.autograd.grad(fast, [poisoned, *weights], upstream)
    theirs = torch.autograd.grad(slow, [vectors, *weights], upstream)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other)
