"""Attention, pooling and maxout equal plain loops, one example at a time; padding and empty sentences are harmless."""

import math

import pytest
import torch

from elmo.tasks.layers import attention
from elmo.tasks.layers.attention import (
    BiAttention,
    SelfAttention,
    SelfAttentivePooling,
    attend,
    compare,
    masked_softmax,
    mean_and_max,
    pool,
)
from elmo.tasks.layers.linear import Maxout

LENGTHS = (4, 1, 0, 3)
DIM = 5


@pytest.fixture
def batch():
    """Vectors with garbage behind each sentence, and the mask."""
    vectors = torch.randn(len(LENGTHS), 4, DIM, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    mask = torch.arange(4)[None, :] < torch.tensor(LENGTHS)[:, None]
    vectors[~mask] = 1e6
    return vectors, mask


def shares(logits):
    powers = [math.exp(logit - max(logits)) for logit in logits]
    return [power / sum(powers) for power in powers]


def test_self_attention_equals_the_plain_loop(batch):
    vectors, mask = batch
    found = attend(vectors, vectors, mask)
    for row, length in enumerate(LENGTHS):
        for place in range(length):
            query = vectors[row, place]
            weights = shares([float(query @ vectors[row, other]) for other in range(length)])
            expected = sum(weight * vectors[row, other] for other, weight in enumerate(weights))
            torch.testing.assert_close(found[row, place], expected)


def test_pooling_equals_the_plain_loop(batch):
    vectors, mask = batch
    found = pool(vectors, mask)
    for row, length in enumerate(LENGTHS):
        columns = [[float(vectors[row, place, i]) for place in range(length)] for i in range(DIM)]
        if length:
            expected = [max(c) for c in columns] + [min(c) for c in columns] + [sum(c) / length for c in columns]
        else:
            expected = [0.0] * 3 * DIM
        torch.testing.assert_close(found[row], torch.tensor(expected, dtype=torch.float64))


def test_self_attentive_pooling_equals_the_plain_loop(batch):
    vectors, mask = batch
    layer = SelfAttentivePooling(DIM).double().requires_grad_(False)
    found = layer(vectors, mask)
    weight, bias = layer.score.weight[0], layer.score.bias[0]
    for row, length in enumerate(LENGTHS):
        weights = shares([float(weight @ vectors[row, place] + bias) for place in range(length)]) if length else []
        expected = sum((w * vectors[row, place] for place, w in enumerate(weights)), torch.zeros(DIM).double())
        torch.testing.assert_close(found[row], expected)


def test_maxout_equals_the_plain_loop():
    layer = Maxout(DIM, 3, 4).double().requires_grad_(False)
    vectors = torch.randn(2, 6, DIM, dtype=torch.float64)
    found = layer(vectors)
    weight, bias = layer.linear.weight.view(3, 4, DIM), layer.linear.bias.view(3, 4)
    for row in range(2):
        for place in range(6):
            expected = [max(float(weight[i, j] @ vectors[row, place] + bias[i, j]) for j in range(4)) for i in range(3)]
            torch.testing.assert_close(found[row, place], torch.tensor(expected, dtype=torch.float64))


def test_gradients_are_right_and_padding_gets_none(batch):
    vectors, mask = batch
    vectors[~mask] = 0.5
    attentive = SelfAttentivePooling(DIM).double()

    def all_of_it(vectors):
        attended = attend(vectors, vectors, mask) * mask[:, :, None]
        return torch.cat([pool(attended, mask), attentive(vectors, mask)], dim=1)

    vectors.requires_grad_()
    assert torch.autograd.gradcheck(all_of_it, (vectors,))
    all_of_it(vectors).sum().backward()
    assert (vectors.grad[~mask] == 0).all()
    assert vectors.grad[mask].abs().sum() > 0


def test_nothing_at_all_gives_zeros():
    mask = torch.zeros(2, 0, dtype=torch.bool)
    vectors = torch.zeros(2, 0, DIM)
    assert pool(vectors, mask).tolist() == [[0.0] * 15] * 2
    assert attend(vectors, vectors, mask).shape == (2, 0, DIM)
    assert SelfAttentivePooling(DIM)(vectors, mask).tolist() == [[0.0] * DIM] * 2
    assert masked_softmax(torch.tensor([[1.0, 2.0]]), torch.tensor([[False, False]])).tolist() == [[0.0, 0.0]]


def test_a_token_is_compared_with_the_weighted_mean_of_the_other_sentence():
    torch.manual_seed(0)
    own, other = torch.randn(2, 3, 4), torch.randn(2, 5, 4)
    mask = torch.tensor([[True] * 5, [True, True, False, False, False]])
    found = compare(own, other.masked_fill(~mask[:, :, None], 1e4), mask)
    for row, length in enumerate((5, 2)):
        weights = torch.softmax(own[row] @ other[row, :length].T, dim=1)
        aligned = weights @ other[row, :length]
        expected = torch.cat([own[row], aligned, own[row] - aligned, own[row] * aligned], dim=1)
        torch.testing.assert_close(found[row], expected)


def test_nothing_to_compare_with_is_zeros():
    own = torch.ones(1, 2, 3)
    for other, mask in ((torch.ones(1, 2, 3), torch.zeros(1, 2, dtype=torch.bool)),
                        (torch.ones(1, 0, 3), torch.ones(1, 0, dtype=torch.bool))):  # fmt: skip
        assert compare(own, other, mask).tolist() == [[[1.0] * 3 + [0.0] * 3 + [1.0] * 3 + [0.0] * 3] * 2]


def test_pooling_ignores_padding():
    vectors = torch.tensor([[[-1.0, 2.0], [-3.0, 4.0], [9.0, 9.0]], [[5.0, 5.0]] * 3])
    mask = torch.tensor([[True, True, False], [False] * 3])
    assert mean_and_max(vectors, mask).tolist() == [[-2.0, 3.0, -1.0, 4.0], [0.0] * 4]
    assert mean_and_max(vectors[:, :0], mask[:, :0]).tolist() == [[0.0] * 4] * 2


@pytest.fixture(params=["docqa_small", "docqa_larger"])
def case(request, golden_arrays) -> dict[str, torch.Tensor]:
    return golden_arrays(f"bidaf/{request.param}")


def mask_of(case, name) -> torch.Tensor:
    return torch.arange(case[name].shape[1])[None, :] < case[f"{name}_lengths"][:, None]


def weigh(layer, case, prefix) -> None:
    layer.scores.row_weight.data = case[f"weight.{prefix}_input_w"]
    layer.scores.column_weight.data = case[f"weight.{prefix}_key_w"]
    layer.scores.product_weight.data = case[f"weight.{prefix}_dot_w"]
    layer.scores.bias.data = case[f"weight.{prefix}_bias"][None]


@pytest.mark.parametrize(("dtype", "suffix", "tolerance"), [(torch.float32, "f32", 2e-5), (torch.float64, "f64", 1e-9)])
def test_bi_attention_equals_the_originals(case, dtype, suffix, tolerance):
    layer = BiAttention(case["passage"].shape[2])
    weigh(layer, case, "bi")
    mask = mask_of(case, "passage")
    found = layer.to(dtype)(case["passage"].to(dtype), case["question"].to(dtype), mask, mask_of(case, "question"))
    torch.testing.assert_close(found[mask], case[f"merged_{suffix}"][mask], atol=tolerance, rtol=tolerance)


@pytest.mark.parametrize(("dtype", "suffix", "tolerance"), [(torch.float32, "f32", 2e-5), (torch.float64, "f64", 1e-9)])
@pytest.mark.parametrize("max_weights", [1 << 24, 20])
def test_self_attention_equals_the_originals(case, dtype, suffix, tolerance, max_weights, monkeypatch):
    monkeypatch.setattr(attention, "_MAX_WEIGHTS", max_weights)
    layer = SelfAttention(case["passage"].shape[2])
    weigh(layer, case, "self")
    layer.null_score.data = case["weight.null_logit"][None]
    mask = mask_of(case, "passage")
    found = layer.to(dtype)(case["passage"].to(dtype), mask)
    torch.testing.assert_close(found[mask], case[f"self_merged_{suffix}"][mask], atol=tolerance, rtol=tolerance)


def test_the_null_slot_is_a_term_in_the_denominator():
    torch.manual_seed(0)
    layer, vectors = SelfAttention(3), torch.randn(1, 4, 3)
    scores = layer.scores(vectors, vectors)[0].fill_diagonal_(-torch.inf).exp()
    attended = scores / (scores.sum(dim=1, keepdim=True) + layer.null_score.exp()) @ vectors[0]
    found = layer(vectors, torch.ones(1, 4, dtype=torch.bool))
    torch.testing.assert_close(found[0, :, :3], attended)


def test_a_lone_token_attends_to_nothing():
    vectors = torch.ones(1, 2, 3, requires_grad=True)
    found = SelfAttention(3)(vectors, torch.tensor([[True, False]]))
    assert (found[0, 0, :3] == 0).all()
    found.sum().backward()
    assert vectors.grad.isfinite().all()
