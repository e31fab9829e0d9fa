"""The biLSTM stack reads each row alone, and its dropout has one mask for a sentence."""

import pytest
import torch

from elmo.tasks.layers.recurrent.bilstm import BiLSTM, VariationalDropout


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


def test_empty_sentences_and_batches_have_no_vectors(bilstm):
    found = bilstm(torch.randn(2, 3, 3), mask_of(3, 0))
    assert (found[1] == 0).all()
    assert found[0].abs().sum() > 0
    assert bilstm(torch.zeros(0, 0, 3), torch.zeros(0, 0, dtype=torch.bool)).shape == (0, 0, 10)
    assert bilstm(torch.zeros(2, 0, 3), torch.zeros(2, 0, dtype=torch.bool)).shape == (2, 0, 10)


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
