"""Vectors of words from a small transformer, against what the transformer itself gives for their pieces."""

import sys

import numpy as np
import pytest
import torch

from elmo.errors import ConfigError, WeightFileError
from elmo_paper import systems

PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "bank", "##s", "flood", "##ed", ".")


@pytest.fixture
def folder(tmp_path):
    """A BERT of two layers and 12 places with random weights."""
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(PIECES),
        hidden_size=8,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=12,
    )
    transformers.BertModel(config).save_pretrained(tmp_path)
    words = {piece: number for number, piece in enumerate(PIECES)}
    transformers.BertTokenizer(vocab=words).save_pretrained(tmp_path)
    return tmp_path


def test_a_word_is_the_mean_of_its_pieces_in_every_layer(folder):
    encoder = systems.minilm(str(folder), device="cpu")
    numbers = [[2, 4, 5, 6, 7, 8, 9, 3]]  # [CLS] the bank ##s flood ##ed . [SEP]
    with torch.no_grad():
        states = encoder.model(input_ids=torch.tensor(numbers), output_hidden_states=True).hidden_states
    (found,) = encoder.embed_iter([["The", "banks", "flooded", "."]])
    assert found.shape == (encoder.num_layers, 4, encoder.layer_dim) == (3, 4, 8)
    for layer, state in zip(found, states, strict=True):
        expected = [state[0, 1], state[0, 2:4].mean(0), state[0, 4:6].mean(0), state[0, 6]]
        assert np.abs(layer - torch.stack(expected).numpy()).max() < 1e-5


def test_a_sentence_is_the_same_beside_any_other(folder):
    encoder = systems.minilm(str(folder), device="cpu")
    sentences = [["the", "bank"], [], ["flooded"], ["the", "\x00"], ["the"] * 25]
    together = list(encoder.embed_iter(sentences))
    assert [one.shape[1] for one in together] == [len(sentence) for sentence in sentences]
    for sentence, beside in zip(sentences, together, strict=True):
        (alone,) = encoder.embed_iter([sentence])
        assert np.allclose(alone, beside, atol=1e-6)
    (unknown,) = encoder.embed_iter([["the", "qqq"]])
    assert np.allclose(unknown, together[3], atol=1e-6)  # no pieces: the unknown one
    (first,) = encoder.embed_iter([["the"] * 10])
    assert np.allclose(together[4][:, :10], first, atol=1e-6)  # what doesn't fit is read as parts of its own


def test_the_hash_is_that_of_the_weights(folder):
    encoder, again = (systems.minilm(str(folder), device="cpu") for _ in range(2))
    assert encoder.model_hash == again.model_hash
    again.model.embeddings.word_embeddings.weight.data[4, 0] += 1
    assert type(again)(again.model, again.tokenizer).model_hash != encoder.model_hash


def test_a_folder_without_a_model_is_named(tmp_path):
    pytest.importorskip("transformers")
    with pytest.raises(WeightFileError, match="can't be read as a transformer"):
        systems.minilm(str(tmp_path / "nothing"), device="cpu")


def test_what_is_missing_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    monkeypatch.delitem(sys.modules, "elmo_paper.minilm.encoder", raising=False)
    with pytest.raises(ConfigError, match=r"needs the package 'transformers'.*pip install -e 'paper\[minilm\]'"):
        systems.minilm("", device="cpu")
