"""The Embedder in wrong hands: every mistake is a ConfigError, and torch's defaults change nothing."""

import inspect

import numpy as np
import pytest
import torch

from elmo.embed.embedder import Embedder
from elmo.errors import ConfigError
from elmo.layer.elmo import ELMo


@pytest.mark.parametrize(
    "settings",
    [
        *({"max_tokens": value} for value in ("a", 1.5, float("nan"), True, -1)),
        *({"cache_bytes": value} for value in ("a", -1, 1.5, None)),
    ],
    ids=str,
)
def test_settings_of_a_wrong_kind_are_refused(tiny_bilm, settings):
    with pytest.raises(ConfigError, match=next(iter(settings))):
        Embedder(tiny_bilm, **settings)


def test_arguments_of_a_wrong_kind_are_refused(embedder):
    for call, message in (
        (lambda: embedder.embed(torch.zeros(3)), r"sentences\[0\]"),
        (lambda: embedder.embed(["The", "bank"]), "flat list of words"),
        (lambda: embedder.embed_iter(None), "sentences must be .*None"),
        (lambda: embedder.embed_iter([["a"]], window="a"), "window must be .*got 'a'"),
        (lambda: embedder.embed([["a"]], layers=b"all"), "layers is b'all'"),
        (lambda: embedder.warm_up(["The", "bank"]), "flat list of words"),
    ):
        with pytest.raises(ConfigError, match=message):
            call()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16])
def test_weights_of_another_type_are_refused(tiny_bilm, dtype):
    embedder = Embedder(tiny_bilm)
    tiny_bilm.to(dtype)
    for call in (lambda: embedder.embed([["a"]]), lambda: Embedder(tiny_bilm)):
        with pytest.raises(ConfigError, match=r"weights are torch.float.*bilm\.float\(\)"):
            call()


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_state_that_is_not_finite_is_refused(tiny_bilm, value):
    embedder = Embedder(tiny_bilm, state="carry")
    before = embedder.embed(["a b"])
    state = embedder.state_dict()
    state["cell"][1, 0, 2] = value
    with pytest.raises(ConfigError, match="'cell' of the state is not finite"):
        embedder.load_state_dict(state)
    embedder.reset()
    np.testing.assert_array_equal(embedder.embed(["a b"])[0], before[0])


@pytest.mark.parametrize("native", ["1", "0"])
def test_torchs_defaults_change_nothing(tiny_bilm, tiny_corpus, tmp_path, monkeypatch, native):
    tiny_bilm.save_pretrained(tmp_path / "model")
    expected = Embedder(tiny_bilm).embed(tiny_corpus)
    monkeypatch.setenv("ELMO_NATIVE", native)
    try:
        torch.set_default_dtype(torch.float64)
        torch.set_default_device("meta")
        for embedder in (Embedder(tiny_bilm), Embedder.from_pretrained(tmp_path / "model", device="cpu")):
            for found, array in zip(embedder.embed(tiny_corpus), expected, strict=True):
                np.testing.assert_array_equal(found, array)
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_default_device(None)


def test_the_model_hash_is_of_all_weights_as_they_are(tiny_bilm):
    embedder = Embedder(tiny_bilm.requires_grad_(False))
    first = embedder.model_hash
    assert embedder.model_hash == embedder.describe()["model_hash"] == first
    weight = tiny_bilm.forward_lstm.layers[1].recurrent_weight
    weight.data[7, 3] += 1
    assert embedder.model_hash != first
    weight.data[7, 3] -= 1
    weight.data[:, 1:] = 0
    assert embedder.model_hash != first


def test_elmo_refuses_settings_of_a_wrong_kind(tiny_bilm):
    def unchecked(*arguments, **settings):
        """`ELMo` without the check of types that tests add to it."""
        inspect.unwrap(ELMo.__init__)(ELMo.__new__(ELMo), *arguments, **settings)

    for call, message in (
        (lambda: unchecked(tiny_bilm, num_mixes=1.5), "num_mixes must be .*got 1.5"),
        (lambda: unchecked(tiny_bilm, dropout="a"), "dropout must be .*got 'a'"),
        (lambda: unchecked(tiny_bilm, trainable="x"), "trainable must be .*got 'x'"),
    ):
        with pytest.raises(ConfigError, match=message):
            call()
