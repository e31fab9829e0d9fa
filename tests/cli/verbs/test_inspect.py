"""`elmo inspect` as it is typed."""

import hashlib
import json

import pytest

from elmo.cli.verbs.inspect import main
from elmo.errors import ConfigError, WeightFileError
from elmo.weights.allennlp.write import write as write_allennlp
from elmo.weights.checkpoint import content_hash


def test_json_has_the_facts_and_the_shapes(model_folder, language_model, capsys):
    assert main([str(model_folder), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["format"] == "native"
    assert facts["content_hash"] == content_hash(language_model)
    assert facts["files"] == [str(model_folder)]
    assert facts["vocabulary_size"] == 8
    assert facts["metadata"] == {"license": "none: random numbers"}
    assert facts["shapes"] == {name: list(tensor.shape) for name, tensor in language_model.tensors.items()}


def test_the_table_is_for_people(model_folder, language_model, capsys):
    assert main([str(model_folder)]) == 0
    rows = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines() if len(line.split()) > 1)
    zero_row = 3
    total = sum(tensor.size for tensor in language_model.tensors.values()) - zero_row
    assert rows["parameters"] == f"{total:,}, and 40 of the softmax"
    assert rows["format"] == "native"
    assert rows["filters"] == "1x2 2x3"
    assert rows["license"] == "none: random numbers"
    assert rows["forward_lstm.layers.1.projection_weight"] == "4 x 6"


def test_allennlp_files_are_recognized_and_options_may_lie_elsewhere(tmp_path, language_model, capsys):
    write_allennlp(language_model, tmp_path / "published")
    assert main([str(tmp_path / "published"), "--json"]) == 0
    together = json.loads(capsys.readouterr().out)
    (tmp_path / "apart").mkdir()
    weights = (tmp_path / "published" / "weights.hdf5").rename(tmp_path / "apart" / "weights.hdf5")
    options = tmp_path / "published" / "options.json"
    assert main([str(weights), "--options", str(options), "--json"]) == 0
    apart = json.loads(capsys.readouterr().out)
    assert together["format"] == apart["format"] == "allennlp"
    assert together["content_hash"] == apart["content_hash"] == content_hash(language_model)
    assert apart["files"] == [str(options), str(weights)]
    assert main([str(weights), "--options", str(options)]) == 0
    rows = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines() if len(line.split()) > 1)
    for path in (weights, options):
        assert rows[path.name] == f"SHA-256 {hashlib.sha256(path.read_bytes()).hexdigest()}"


def test_weights_that_fit_no_options_show_their_shapes_before_the_error(tmp_path, language_model, capsys):
    write_allennlp(language_model, tmp_path / "published")
    options = tmp_path / "published" / "options.json"
    options.write_text(options.read_text().replace('"dim": 6', '"dim": 5'))
    with pytest.raises(WeightFileError, match="elmo inspect"):
        main([str(tmp_path / "published" / "weights.hdf5")])
    shapes = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert shapes["RNN_0/RNN/MultiRNNCell/Cell0/LSTMCell/W_0"] == "8 x 24"


def test_without_a_model_the_default_is_shown(model_folder, monkeypatch, capsys):
    monkeypatch.setenv("ELMO_MODEL", str(model_folder))
    assert main(["--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == [str(model_folder)]
    with pytest.raises(ConfigError, match="--options was given without MODEL"):
        main(["--options", str(model_folder / "config.json")])
