"""The mean of two models' weights."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from elmo.errors import WeightFileError
from elmo.text.token_map import TokenMap
from elmo.text.vocabulary import SPECIAL_WORDS
from elmo.weights import formats
from elmo.weights.native.write import write


@pytest.fixture
def pair(tmp_path, tiny_bilm):
    """Two folders: a model that predicts "a", and one whose weights are all three times as large."""
    softmax = {"weight": np.ones((4, 8), np.float32), "bias": np.zeros(4, np.float32)}
    first = tiny_bilm.to_checkpoint(vocabulary=[*SPECIAL_WORDS, "a"], softmax=softmax)
    second = replace(
        first,
        tensors={name: 3 * tensor for name, tensor in first.tensors.items()},
        softmax={name: 3 * tensor for name, tensor in softmax.items()},
    )
    write(first, tmp_path / "one")
    write(second, tmp_path / "other")
    return str(tmp_path / "one"), str(tmp_path / "other")


def test_every_weight_is_moved_by_the_share(script, pair, tmp_path):
    assert script.main([*pair, str(tmp_path / "mean"), "--share", "0.75"]) == 0
    one, mean = formats.read(Path(pair[0])), formats.read(tmp_path / "mean")
    assert mean.vocabulary == one.vocabulary
    for name, tensor in {**one.tensors, **one.softmax}.items():
        np.testing.assert_allclose({**mean.tensors, **mean.softmax}[name], 2.5 * tensor, rtol=1e-6, atol=1e-6)


def test_the_mean_of_a_model_and_itself_is_that_model(script, pair, tmp_path):
    assert script.main([pair[0], pair[0], str(tmp_path / "mean"), "--share", "0.3"]) == 0
    one, mean = formats.read(Path(pair[0])), formats.read(tmp_path / "mean")
    for name, tensor in one.tensors.items():
        np.testing.assert_array_equal(mean.tensors[name], tensor)


def test_models_that_do_not_fit_together_are_refused(script, pair, tmp_path, tiny_bilm, capsys):
    for share in ("0", "1", "nan"):
        assert script.main([*pair, str(tmp_path / "mean"), "--share", share]) == 2
        assert "--share must be above 0 and below 1" in capsys.readouterr().err
    write(tiny_bilm.to_checkpoint(), tmp_path / "bare")
    assert script.main([pair[0], str(tmp_path / "bare"), str(tmp_path / "mean"), "--share", "0.5"]) == 2
    assert "a different vocabulary" in capsys.readouterr().err
    one = formats.read(Path(pair[0]))
    others = TokenMap(replace(one.token_map.characters, unknown=1))
    with pytest.raises(WeightFileError, match="a different token_map"):
        script.averaged(one, replace(one, token_map=others), 0.5)
    assert not (tmp_path / "mean").exists()
