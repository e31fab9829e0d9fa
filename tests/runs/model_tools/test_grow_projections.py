"""A model gets wider projections and predicts what it predicted before."""

import pytest
import torch

from elmo.lm.language_model import EngineLanguageModel
from elmo.lm.perplexity import evaluate
from elmo.model.bilm import BiLM
from elmo.weights import formats
from elmo.weights.native.write import write


def test_predictions_stay_and_vectors_keep_their_old_dimensions(script, tmp_path, old):
    write(old, old := tmp_path / "old")
    assert script.main([str(old), str(tmp_path / "new"), "--projection-size", "11"]) == 0
    before, after = formats.read(old), formats.read(tmp_path / "new")
    assert (before.config.projection_size, after.config.projection_size) == (8, 11)
    sentences = [["a", "b", "a"], ["b"]]
    perplexities = [evaluate(EngineLanguageModel(model), sentences).of("mean") for model in (before, after)]
    assert perplexities[1] == pytest.approx(perplexities[0], rel=1e-5)
    characters = torch.from_numpy(before.token_map.ids(sentences[0]).characters)[None]
    narrow, wide = (BiLM.from_checkpoint(model).eval()(characters, None).layers for model in (before, after))
    for first in (0, 1):  # of the forward, of the backward language model
        kept = wide[..., first * 11 : first * 11 + 8]
        torch.testing.assert_close(kept, narrow[..., first * 8 : first * 8 + 8], rtol=1e-5, atol=1e-5)
        assert (wide[..., first * 11 + 8 : first * 11 + 11].std(dim=-2) > 0).all(), "the new dimensions say nothing"


def test_what_can_not_grow_is_refused(script, tmp_path, old, tiny_bilm, capsys):
    write(old, old := tmp_path / "old")
    assert script.main([str(old), str(tmp_path / "new"), "--projection-size", "8"]) == 2
    assert "is no growth: the model has 8" in capsys.readouterr().err
    cells = str(formats.read(old).config.cell_size)
    assert script.main([str(old), str(tmp_path / "new"), "--projection-size", cells]) == 2
    assert f"is not below the {cells} cells: there would be nothing to project" in capsys.readouterr().err
    assert script.main([str(old), str(tmp_path / "new"), "--projection-size", "9", "--seed", "-1"]) == 2
    assert "--seed is -1" in capsys.readouterr().err
    write(tiny_bilm.to_checkpoint(), tmp_path / "bare")
    assert script.main([str(tmp_path / "bare"), str(tmp_path / "new"), "--projection-size", "9"]) == 2
    assert "no plain softmax" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
