"""LMHead: the softmax over the vocabulary."""

import dataclasses

import numpy as np
import pytest
import torch
from torch.nn import functional

from elmo.errors import WeightFileError
from elmo.model.lm_head import LMHead
from elmo.weights import checkpoint

WORDS = ["<S>", "</S>", "<UNK>", "the", "cat", "sat", "mat"]


@pytest.fixture
def head():
    torch.manual_seed(0)
    head = LMHead(WORDS, 8)
    with torch.no_grad():
        head.bias.normal_()
    return head


@pytest.fixture
def outputs():
    return torch.randn(11, 8, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("chunk", [1, 4, 11, 512])
def test_nats_equal_cross_entropy_whatever_the_chunk(head, outputs, chunk):
    targets = torch.arange(11) % len(WORDS)
    logits = outputs @ head.weight.t() + head.bias
    expected = functional.cross_entropy(logits, targets, reduction="none")
    assert torch.allclose(head.nats(outputs, targets, chunk=chunk), expected, atol=1e-6)


def test_nats_of_every_word_add_up_to_chance_one(head, outputs):
    everything = head.nats(outputs[:1].expand(len(WORDS), -1), torch.arange(len(WORDS)))
    assert torch.exp(-everything).sum().item() == pytest.approx(1, abs=1e-6)


def test_no_targets_have_no_nats(head, outputs):
    assert head.nats(outputs[:0], torch.zeros(0, dtype=torch.int64)).shape == (0,)


def test_best_gives_the_most_probable_words_in_order(head, outputs):
    chances = torch.softmax(head.logits(outputs), dim=1).detach().numpy()
    for row, found in zip(chances, head.best(outputs, 3), strict=True):
        order = np.argsort(-row)[:3]
        assert [word for word, _ in found] == [WORDS[place] for place in order]
        assert [chance for _, chance in found] == pytest.approx(row[order])


def test_a_softmax_survives_its_checkpoint(head, outputs, tiny_bilm, tmp_path):
    softmax = {"weight": head.weight.detach().numpy(), "bias": head.bias.detach().numpy()}
    checkpoint.write(tiny_bilm.to_checkpoint(softmax=softmax, vocabulary=WORDS), tmp_path / "model")
    again = LMHead.from_pretrained(tmp_path / "model")
    assert again.vocabulary == WORDS
    assert torch.equal(again.logits(outputs), head.logits(outputs))


def test_a_model_without_softmax_says_so(tiny_bilm, tmp_path):
    tiny_bilm.save_pretrained(tmp_path / "model")
    with pytest.raises(WeightFileError, match="model has no softmax over a vocabulary"):
        LMHead.from_pretrained(tmp_path / "model")
    words_only = dataclasses.replace(tiny_bilm.to_checkpoint(), vocabulary=WORDS)
    with pytest.raises(WeightFileError, match="this model has no softmax"):
        LMHead.from_checkpoint(words_only)
