"""The LSTM with coupled gates equals a plain loop over each sentence alone, in outputs and gradients."""

import pytest
import torch

from elmo.tasks.layers.recurrent.coupled_lstm import CoupledLSTM

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


def test_a_batch_without_tokens_is_no_error():
    layer = CoupledLSTM(4, 3)
    assert layer(torch.zeros(2, 0, 4), torch.zeros(2, 0, dtype=torch.bool)).shape == (2, 0, 6)
    assert (layer(torch.ones(2, 3, 4), torch.zeros(2, 3, dtype=torch.bool)) == 0).all()


def test_recurrent_dropout_is_one_mask_for_all_steps():
    layer, vectors, mask = network(0.5)
    torch.manual_seed(1)
    found = layer(vectors, mask)
    torch.manual_seed(1)
    assert torch.equal(found, layer(vectors, mask))
    assert not torch.equal(found, layer.eval()(vectors, mask))
