"""Remembered layers are the biLM's own, whoever computed them; damage is found."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from elmo.embed.embedder import Embedder
from elmo.errors import Interrupted, WeightFileError
from elmo.tasks.tokens import frozen_layers
from elmo.tasks.tokens.frozen_layers import FrozenLayers
from elmo.tasks.tokens.layer_store import LayerStore


def vectors(sentence: list[str], seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(3, len(sentence) + 2, 4)).astype(np.float32)


def store(cache, dtype="float32", **changes) -> LayerStore:
    facts = {"model_hash": "ab" * 32, "num_layers": 3, "layer_dim": 4, "keep_boundaries": True}
    encoder = SimpleNamespace(**facts | changes)
    return LayerStore(cache, encoder, dtype)


SENTENCES = [["a"], [], ["b", "c", "d"], ["a b"]]


def test_what_is_added_is_read_by_every_later_store(tmp_path):
    first = store(tmp_path)
    first.add(SENTENCES, map(vectors, SENTENCES))
    for other in (first, store(tmp_path)):
        for sentence in SENTENCES:
            np.testing.assert_array_equal(other.read(sentence), vectors(sentence).transpose(1, 0, 2))
        assert other.read(["a", "b"]) is None
        assert other.missing([*SENTENCES, ["a", "b"], ["x"], ["x"]]) == [["x"], ["a", "b"]]


def test_a_store_sees_what_another_adds_and_adding_it_again_changes_nothing(tmp_path):
    first, second = store(tmp_path), store(tmp_path)
    first.add([["a"]], [vectors(["a"])])
    second.add([["a"]], [vectors(["a"], seed=9)])  # another run came first
    np.testing.assert_array_equal(second.read(["a"]), vectors(["a"]).transpose(1, 0, 2))
    first.add([["b"]], [vectors(["b"])])
    assert second.read(["b"]) is None
    second.refresh()
    assert second.read(["b"]) is not None


def test_an_interrupted_addition_leaves_nothing(tmp_path):
    def interrupted():
        yield vectors(["a"])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store(tmp_path).add([["a"], ["b"]], interrupted())
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert store(tmp_path).read(["a"]) is None


def test_models_and_types_have_folders_of_their_own(tmp_path):
    store(tmp_path).add([["a"]], [vectors(["a"])])
    for other in ({"model_hash": "cd" * 32}, {"keep_boundaries": False}):
        assert store(tmp_path, **other).read(["a"]) is None
    half = store(tmp_path, dtype="float16")
    half.add([["a"]], [vectors(["a"])])
    assert half.read(["a"]).dtype == np.float16
    np.testing.assert_allclose(half.read(["a"]), vectors(["a"]).transpose(1, 0, 2), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", ["layers.npy", "index.npz"])
def test_damaged_files_are_told_with_the_way_out(tmp_path, name):
    store(tmp_path).add([["a"]], [vectors(["a"])])
    (path,) = tmp_path.rglob(name)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(WeightFileError, match="Remove the folder"):
        store(tmp_path)


@pytest.mark.parametrize("name", ["layers.npy", "index.npz", "sha256.json"])
def test_a_changed_bit_is_noticed_before_a_vector_is_read(tmp_path, name):
    store(tmp_path).add(SENTENCES, map(vectors, SENTENCES))
    store(tmp_path).add([["x"]], [vectors(["x"])])
    for path in tmp_path.glob(f"*/part-*/{name}"):
        content = bytearray(path.read_bytes())
        content[-60] ^= 0x80
        path.write_bytes(content)
    with pytest.raises(WeightFileError, match="Remove the folder; its layers are computed again"):
        store(tmp_path).read(["x"])


def test_a_part_without_checksums_is_not_believed(tmp_path):
    store(tmp_path).add(SENTENCES, map(vectors, SENTENCES))
    next(tmp_path.glob("*/part-*/sha256.json")).unlink()
    with pytest.raises(WeightFileError, match="sha256.json is missing"):
        store(tmp_path).read(SENTENCES[0])


def test_remembered_layers_equal_the_live_bilm_bit_for_bit(tmp_path, bilm, tiny_corpus, monkeypatch, recorded_progress):
    monkeypatch.setattr(frozen_layers, "_PART_TOKENS", 10)
    live, stored = FrozenLayers(bilm), FrozenLayers(bilm, cache=tmp_path)
    assert stored.remember(tiny_corpus, progress=recorded_progress) == len(tiny_corpus)
    recorded_progress.require({"biLM layers, once": "tokens"})
    assert len(list(tmp_path.rglob("part-*"))) > 1
    assert live.remember(tiny_corpus) == 0
    one, other = live.batch(tiny_corpus), stored.batch(tiny_corpus)
    assert torch.equal(one.layers, other.layers)
    assert torch.equal(one.mask, other.mask)
    arrays = Embedder(bilm, keep_boundaries=True).embed(tiny_corpus)
    for row, array in enumerate(arrays):
        assert torch.equal(other.layers[:, row, : array.shape[1]], torch.from_numpy(array))
    assert other.mask.sum(dim=1).tolist() == [len(sentence) + 2 for sentence in tiny_corpus]


def test_a_stop_keeps_the_finished_parts(tmp_path, bilm, tiny_corpus, monkeypatch, stop_after):
    monkeypatch.setattr(frozen_layers, "_PART_TOKENS", 10)
    with pytest.raises(Interrupted, match="Continue with the same command and --resume"):
        FrozenLayers(bilm, cache=tmp_path).remember(tiny_corpus, flag=stop_after(4))
    left = FrozenLayers(bilm, cache=tmp_path).remember(tiny_corpus)
    assert 0 < left < len(tiny_corpus)
