"""The network against what its authors' program computed, and its training."""

import json
import unicodedata
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from elmo_paper.context2vec.files import from_torch, read, write
from elmo_paper.context2vec.network import Context2Vec, Context2VecEncoder, negative_sampling_loss
from elmo_paper.context2vec.train import negative_probabilities

KINDS = ["deep", "deep_wide", "shallow"]


@pytest.fixture(params=KINDS)
def golden(request, shared) -> Path:
    return shared / "golden" / "tasks" / "context2vec" / request.param


@pytest.fixture
def expected(golden) -> dict:
    with np.load(golden / "expected.npz") as arrays:
        return json.loads((golden / "expected.json").read_text()) | dict(arrays)


def test_contexts_are_the_originals(golden, expected):
    encoder = Context2VecEncoder.load(golden / "model.params")
    assert list(encoder.words) == expected["words"]
    # The original doesn't lower-case a word that it doesn't know; a word of our own choice stands for it.
    sentences = [["zzz" if word == "Opal" else word for word in one["words"]] for one in expected["sentences"]]
    for number, vectors in enumerate(encoder.embed_iter(sentences)):
        assert np.abs(vectors[0] - expected[f"contexts_{number}"]).max() < 1e-5
    assert encoder.layer_dim == 2 * expected["unit"]


def test_the_loss_and_its_gradients_are_the_originals(golden, expected):
    model = read(golden / "model.params")
    network = Context2Vec.from_model(model)
    # The original has (position, sentence, ...).
    negatives = torch.tensor(expected["negatives"].transpose(1, 0, 2).astype(np.int64))
    loss = negative_sampling_loss(network, torch.tensor(expected["batch"].astype(np.int64)), negatives)
    assert loss.item() == pytest.approx(float(expected["loss"]), rel=1e-5)
    loss.backward()
    found = {
        name: np.zeros_like(model.tensors[name]) if parameter.grad is None else parameter.grad.numpy()
        for name, parameter in network.named_parameters()
    }
    for name, gradient in from_torch(found, model.sizes).items():
        assert np.abs(gradient - expected[f"grad.{name}"]).max() < 2e-4, name


def test_the_chances_of_negatives_are_the_originals(expected):
    word_ids = np.repeat(np.arange(len(expected["counts"])), expected["counts"])
    found = negative_probabilities(word_ids, len(expected["counts"]))
    assert np.abs(found - expected["negative_probabilities"]).max() < 1e-7


def test_the_word_itself_is_never_read(golden):
    network = Context2Vec.from_model(read(golden / "model.params"))
    one, other = torch.tensor([[3, 4, 5, 6]]), torch.tensor([[3, 4, 7, 6]])
    differ = (network(one) != network(other)).any(dim=-1)[0]
    assert differ.tolist() == [True, True, False, True]


def test_a_word_is_looked_up_as_it_stands_and_then_lower_cased(golden):
    encoder = Context2VecEncoder.load(golden / "model.params")
    lower, upper, unknown = encoder.embed_iter([["fen", "opal"], ["Fen", "OPAL"], ["zzz", "zzz"]])
    assert np.array_equal(lower, upper)
    assert not np.array_equal(lower, unknown)


def test_a_file_may_have_a_words_letters_taken_apart(golden):
    model = read(golden / "model.params")
    words = tuple(unicodedata.normalize("NFD", "은행") if word == "fen" else word for word in model.words)
    apart, plain = Context2VecEncoder(replace(model, words=words)), Context2VecEncoder(model)
    found, expected = next(apart.embed_iter([["은행", "opal"]])), next(plain.embed_iter([["fen", "opal"]]))
    assert np.array_equal(found, expected)
    assert apart.model_hash == Context2VecEncoder(replace(model, words=apart.words)).model_hash


def test_the_original_files_are_written_again(golden, tmp_path):
    theirs = read(golden / "model.params")
    write(tmp_path, theirs.words, theirs.sizes, theirs.tensors)
    assert (tmp_path / "context2vec.targets").read_text() == (golden / "words.targets").read_text()
    with np.load(tmp_path / "context2vec.npz") as ours, np.load(golden / "model") as original:
        assert set(ours.files) == set(original.files)
        assert all(np.array_equal(ours[name], original[name]) for name in original.files)
