"""`elmo convert` as it is typed."""

import json
from dataclasses import replace

import numpy as np
import pytest
from safetensors import safe_open

from elmo.cli.verbs.convert import main
from elmo.errors import ConfigError, OutputError
from elmo.weights import formats
from elmo.weights.allennlp.hdf5 import write_hdf5
from elmo.weights.allennlp.write import write as write_allennlp
from elmo.weights.checkpoint import content_hash


def test_there_and_back_again_nothing_changes(tmp_path, model_folder, language_model, capsys):
    published, again = tmp_path / "published", tmp_path / "again"
    assert main([str(model_folder), str(published), "--to", "allennlp", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["output"], facts["to"], facts["format"]) == (str(published), "allennlp", "native")
    assert main([str(published), str(again)]) == 0
    assert "from allennlp to native, with a vocabulary of 8 words and with a softmax" in capsys.readouterr().out
    found = formats.read(again)
    assert formats.recognize(again) == "native"
    assert content_hash(found) == content_hash(language_model)
    assert found.vocabulary == language_model.vocabulary
    assert (found.softmax["weight"] == language_model.softmax["weight"]).all()


def test_files_that_lie_apart_are_named_by_flags(tmp_path, language_model):
    write_allennlp(language_model, tmp_path / "whole")
    for name in ("weights.hdf5", "vocab.txt", "softmax.hdf5", "options.json"):
        (tmp_path / f"in_{name}").mkdir()
        (tmp_path / "whole" / name).rename(tmp_path / f"in_{name}" / name)
    flags = {"options": "options.json", "vocabulary": "vocab.txt", "softmax": "softmax.hdf5"}
    arguments = [str(tmp_path / "in_weights.hdf5" / "weights.hdf5"), str(tmp_path / "new"), "--quiet"]
    for flag, name in flags.items():
        arguments += [f"--{flag}", str(tmp_path / f"in_{name}" / name)]
    assert main(arguments) == 0
    found = formats.read(tmp_path / "new")
    assert content_hash(found) == content_hash(language_model)
    assert found.vocabulary == language_model.vocabulary
    assert found.softmax is not None


def test_token_embeddings_replace_the_char_cnn(tmp_path, language_model):
    write_allennlp(replace(language_model, softmax=None), tmp_path / "published")
    vectors = language_model.softmax["weight"]
    write_hdf5(tmp_path / "vectors.hdf5", {"embedding": vectors})
    arguments = [str(tmp_path / "published"), str(tmp_path / "new"), "--quiet"]
    assert main([*arguments, "--token-embeddings", str(tmp_path / "vectors.hdf5")]) == 0
    found = formats.read(tmp_path / "new")
    assert found.config.characters == "none"
    assert (found.tensors["token_encoder.word_embedding"][1:] == vectors).all()


def test_float16_is_how_native_files_store_and_allennlp_files_can_not(tmp_path, model_folder):
    assert main([str(model_folder), str(tmp_path / "half"), "--dtype", "float16", "--quiet"]) == 0
    with safe_open(tmp_path / "half" / "model.safetensors", "numpy") as file:
        assert {file.get_tensor(name).dtype for name in file.keys()} == {np.dtype("float16")}  # noqa: SIM118
    with pytest.raises(ConfigError, match="only read float32"):
        main([str(model_folder), str(tmp_path / "x"), "--to", "allennlp", "--dtype", "float16"])
    assert not (tmp_path / "x").exists()


def test_a_model_is_replaced_only_by_force(tmp_path, model_folder, language_model):
    write_allennlp(replace(language_model, vocabulary=None, softmax=None), tmp_path / "published")
    with pytest.raises(OutputError, match="--force"):
        main([str(tmp_path / "published"), str(model_folder)])
    assert formats.read(model_folder).softmax is not None
    assert main([str(tmp_path / "published"), str(model_folder), "--force", "--quiet"]) == 0
    assert formats.read(model_folder).softmax is None
