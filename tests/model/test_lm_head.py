"""LMHead: the softmax over the vocabulary."""

import dataclasses

import pytest
import torch
from torch.nn import functional

from elmo.errors import WeightFileError
from elmo.model import lm_head
from elmo.model.lm_head import LMHead
from elmo.weights import formats
from elmo.weights.native.write import write as write_checkpoint

WORDS = ["<S>", "</S>", "<UNK>", "the", "cat", "sat", "mat"]


@pytest.fixture
def head():
    torch.manual_seed(0)
    head = LMHead(WORDS, 8)
    with torch.no_grad():
        head.bias.normal_()
    return head


@pytest.fixture
def adaptive():
    """Three frequent words, and clusters of one and of three."""
    torch.manual_seed(0)
    head = LMHead(WORDS, 8, clusters=[(1, 3), (3, 2)])
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.normal_()
    return head


@pytest.fixture
def outputs():
    return torch.randn(11, 8, generator=torch.Generator().manual_seed(1))


def set_chunk(monkeypatch, targets):
    monkeypatch.setattr(lm_head, "_LOGITS_BYTES", 0)
    monkeypatch.setattr(lm_head, "_LEAST_TARGETS", targets)


@pytest.mark.parametrize("chunk", [1, 4, 11, 512])
def test_nats_equal_cross_entropy_whatever_the_chunk(head, outputs, chunk, monkeypatch):
    set_chunk(monkeypatch, chunk)
    targets = torch.arange(11) % len(WORDS)
    logits = outputs @ head.weight.t() + head.bias
    expected = functional.cross_entropy(logits, targets, reduction="none")
    assert torch.allclose(head.nats(outputs, targets), expected, atol=1e-6)


def test_no_targets_have_no_nats(head, outputs):
    assert head.nats(outputs[:0], torch.zeros(0, dtype=torch.int64)).shape == (0,)


@pytest.mark.parametrize("kind", ["head", "adaptive"])
def test_a_softmax_survives_its_checkpoint(request, kind, outputs, tiny_bilm, tmp_path):
    head = request.getfixturevalue(kind)
    softmax = {name: tensor.numpy() for name, tensor in head.state_dict().items()}
    write_checkpoint(tiny_bilm.to_checkpoint(softmax=softmax, vocabulary=WORDS), tmp_path / "model")
    again = LMHead.from_checkpoint(formats.read(tmp_path / "model"))
    assert again.vocabulary == WORDS
    assert [cluster.weight.shape for cluster in again.clusters] == [cluster.weight.shape for cluster in head.clusters]
    assert torch.equal(again.logits(outputs), head.logits(outputs))


@pytest.mark.parametrize("chunk", [1, 4, 512])
def test_an_adaptive_softmax_gives_every_word_its_chance(adaptive, outputs, chunk, monkeypatch):
    set_chunk(monkeypatch, chunk)
    logits = adaptive.logits(outputs)
    assert logits.shape == (11, len(WORDS))
    torch.testing.assert_close(logits.exp().sum(dim=1), torch.ones(11))
    targets = torch.arange(11) % len(WORDS)
    expected = functional.cross_entropy(logits, targets, reduction="none")
    torch.testing.assert_close(adaptive.nats(outputs, targets), expected)


def test_a_head_has_a_copy_of_its_checkpoints_numbers(head, tiny_bilm):
    softmax = {name: tensor.numpy().copy() for name, tensor in head.state_dict().items()}
    again = LMHead.from_checkpoint(tiny_bilm.to_checkpoint(softmax=softmax, vocabulary=WORDS))
    with torch.no_grad():
        again.weight.zero_()
    assert softmax["weight"].any()
    assert again.weight.requires_grad
    assert not again.training


def test_a_model_without_softmax_says_so(tiny_bilm, tmp_path):
    tiny_bilm.save_pretrained(tmp_path / "model")
    with pytest.raises(WeightFileError, match="model has no softmax over a vocabulary"):
        LMHead.from_checkpoint(formats.read(tmp_path / "model"), "model")
    words_only = dataclasses.replace(tiny_bilm.to_checkpoint(), vocabulary=WORDS)
    with pytest.raises(WeightFileError, match="this model has no softmax"):
        LMHead.from_checkpoint(words_only)


def test_logits_are_made_in_one_level_of_chunks_bounded_in_bytes(monkeypatch):
    head = LMHead(WORDS, 8)
    monkeypatch.setattr("elmo.model.lm_head._LOGITS_BYTES", 4 * len(WORDS) * 50)
    outputs, targets = torch.randn(120, 8), torch.zeros(120, dtype=torch.int64)
    sizes, polled = [], []
    plain = head._nats
    monkeypatch.setattr(head, "_nats", lambda some, ids: sizes.append(len(some)) or plain(some, ids))
    found = head.nats(outputs, targets, poll=lambda: polled.append(len(sizes)))
    assert sizes == [50, 50, 20]
    assert polled == [0, 1, 2]
    assert torch.equal(found, plain(outputs, targets))
    monkeypatch.setattr("elmo.model.lm_head._LOGITS_BYTES", 1)  # as with a vocabulary larger than the bound
    sizes.clear()
    head.nats(outputs, targets)
    assert sizes == [32, 32, 32, 24]


def test_ids_of_words_are_looked_up_in_a_table_that_is_made_once():
    head = LMHead(WORDS, 8)
    assert [head.target_ids.id(word) for word in WORDS] == list(range(len(WORDS)))
    assert head.target_ids is head.target_ids
