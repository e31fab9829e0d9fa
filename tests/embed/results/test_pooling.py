"""One vector for a sentence: each pool against its definition, and what a call gives in each type."""

import sys
from typing import get_args

import numpy as np
import pandas
import pytest
import torch

from elmo.embed.embedder import Embedder
from elmo.embed.results.pooling import Pool, normalized
from elmo.errors import ConfigError, MissingExtraError

SENTENCES = [["the", "bank", "was", "steep"], [], ["yes"], ["a", "", "b"]]


def plain(vectors: np.ndarray, pool: str) -> np.ndarray:
    """A (tokens, dim) array, by loops."""
    tokens, dim = vectors.shape
    if not tokens:
        return np.zeros(dim)
    if pool == "first_last":
        return np.array([vectors[-1 if place < dim // 2 else 0, place] for place in range(dim)])
    choose = {"mean": lambda row: sum(map(float, row)) / tokens, "max": max, "first": lambda row: row[0]}
    choose["last"] = lambda row: row[-1]
    return np.array([choose[pool](list(vectors[:, place])) for place in range(dim)])


@pytest.mark.parametrize("pool", get_args(Pool))
@pytest.mark.parametrize("state", ["zero", "carry"])
def test_a_pooled_call_equals_the_definition(tiny_checkpoint, pool, state):
    arrays = Embedder(tiny_checkpoint, state=state).embed(SENTENCES)
    found = Embedder(tiny_checkpoint, state=state).embed(SENTENCES, pool=pool)
    assert found.shape == (len(SENTENCES), *arrays[0].shape[::2])
    assert found.dtype == np.float32
    for array, vectors in zip(arrays, found, strict=True):
        for layer, vector in zip(array, vectors, strict=True):
            np.testing.assert_allclose(vector, plain(layer, pool), rtol=1e-6, atol=1e-7)
    average = Embedder(tiny_checkpoint, state=state).embed(SENTENCES, "average", pool=pool)
    assert average.shape == (len(SENTENCES), arrays[0].shape[-1])


@pytest.mark.parametrize("pool", get_args(Pool))
def test_a_stream_has_the_vectors_of_a_call(embedder, pool):
    found = list(embedder.embed_iter(SENTENCES, "top", pool=pool, normalize=True, window=2))
    expected = embedder.embed(SENTENCES, "top", pool=pool, normalize=True)
    np.testing.assert_allclose(np.stack(found), expected, atol=1e-6)


def test_boundaries_that_are_kept_are_pooled_too(tiny_checkpoint):
    kept = Embedder(tiny_checkpoint, keep_boundaries=True)
    (array,) = kept.embed([[]], "top")
    np.testing.assert_allclose(kept.embed([[]], "top", pool="mean")[0], array.mean(axis=0), rtol=1e-5)


def test_normalized_vectors_have_length_one_and_zeros_stay(embedder):
    found = embedder.embed(SENTENCES, "all", pool="mean", normalize=True)
    lengths = np.linalg.norm(found, axis=-1)
    np.testing.assert_allclose(lengths, [[1] * 3, [0] * 3, [1] * 3, [1] * 3], atol=1e-6)
    for array in embedder.embed(SENTENCES, 1, normalize=True):
        np.testing.assert_allclose(np.linalg.norm(array, axis=-1), np.ones(len(array)), atol=1e-6)
    huge = np.full((1, 4), 1e30, np.float32)
    np.testing.assert_allclose(normalized(huge), np.full((1, 4), 0.5), rtol=1e-6)


def test_no_sentences_give_an_array_of_no_rows(embedder):
    assert embedder.embed([], pool="mean").shape == (0, embedder.num_layers, embedder.layer_dim)
    assert embedder.embed([], "top", pool="max").shape == (0, embedder.layer_dim)
    assert embedder.embed([], "top", pool="max", output="torch").shape == (0, embedder.layer_dim)
    assert list(embedder.embed([], output="pandas").columns) == ["sentence", "position", "token", "vector"]


def test_tensors_hold_the_same_numbers(embedder):
    arrays, tensors = embedder.embed(SENTENCES), embedder.embed(SENTENCES, output="torch")
    for array, tensor in zip(arrays, tensors, strict=True):
        assert isinstance(tensor, torch.Tensor)
        assert np.array_equal(array, tensor.numpy())
    pooled_tensor = embedder.embed(SENTENCES, pool="mean", output="torch")
    assert np.array_equal(pooled_tensor.numpy(), embedder.embed(SENTENCES, pool="mean"))


def test_a_table_has_a_row_for_each_token_or_sentence(tiny_checkpoint):
    embedder = Embedder(tiny_checkpoint)
    table = embedder.embed(SENTENCES, "average", output="pandas")
    assert isinstance(table, pandas.DataFrame)
    assert list(table.sentence) == [0] * 4 + [2] + [3] * 3
    assert list(table.position) == [0, 1, 2, 3, 0, 0, 1, 2]
    assert list(table.token) == [token for sentence in SENTENCES for token in sentence]
    assert np.array_equal(np.stack(table.vector), np.concatenate(embedder.embed(SENTENCES, "average")))
    of_all = embedder.embed(SENTENCES, output="pandas")
    assert of_all.vector[0].shape == (embedder.num_layers, embedder.layer_dim)
    by_sentence = embedder.embed(SENTENCES, "top", pool="mean", output="pandas")
    assert list(by_sentence.tokens) == SENTENCES
    assert np.array_equal(np.stack(by_sentence.vector), embedder.embed(SENTENCES, "top", pool="mean"))
    kept = Embedder(tiny_checkpoint, keep_boundaries=True).embed([["a"]], "top", output="pandas")
    assert list(kept.token) == ["<S>", "a", "</S>"]


@pytest.mark.parametrize("state", ["zero", "carry"])
def test_progress_counts_every_token(tiny_checkpoint, state, recorded_progress):
    Embedder(tiny_checkpoint, state=state, max_tokens=6).embed(SENTENCES, progress=recorded_progress)
    recorded_progress.require_stages(embedding="tokens")
    assert recorded_progress.stages["embedding"][-1] == (8, 8)


def test_what_is_none_of_the_choices_is_refused(embedder):
    with pytest.raises(ConfigError, match="pool must be one of 'mean', 'max'.*'average'"):
        embedder.embed(SENTENCES, pool="average")
    with pytest.raises(ConfigError, match="pool must be .*'sum'"):
        embedder.embed_iter(SENTENCES, pool="sum")
    with pytest.raises(ConfigError, match="output must be one of 'numpy', 'torch', 'pandas'.*'list'"):
        embedder.embed(SENTENCES, output="list")


def test_a_table_without_pandas_is_told_with_the_way_to_install_it(embedder, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"pandas.*pyelmo\[data\]"):
        embedder.embed(SENTENCES, output="pandas")
