"""Attention, pooling and maxout equal plain loops, one example at a time; padding and empty sentences are harmless."""

import math

import pytest
import torch

from elmo.tasks.layers.attention import SelfAttentivePooling, attend, masked_softmax, pool
from elmo.tasks.layers.maxout import Maxout

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


def test_queries_and_keys_may_be_two_sentences(batch):
    vectors, mask = batch
    queries = torch.randn(len(LENGTHS), 2, DIM, dtype=torch.float64)
    found = attend(queries, vectors, mask)
    assert found.shape == (4, 2, DIM)
    torch.testing.assert_close(found[1], vectors[1, :1].expand(2, DIM))
    assert (found[2] == 0).all()


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
