"""Saved task models: the same predictions wherever they are loaded, with the same biLM only."""

import json

import numpy as np
import pytest
import torch
from tests.tasks.small_models import saved_tagger

from elmo.disk.sums import SUMS_FILE
from elmo.errors import ConfigError, WeightFileError
from elmo.model.bilm import BiLM
from elmo.static.vectors import StaticVectors
from elmo.tasks.saved_model import load, save
from elmo.tasks.train.apply import predict

STATIC = {"static": StaticVectors(("Rome", "saw", "unseen"), np.arange(6, dtype=np.float32).reshape(3, 2))}


@pytest.mark.parametrize("static", [None, STATIC], ids=["no-static", "static"])
@pytest.mark.parametrize("elmo", [None, {}, {"train_bilm": True}, {"placement": "both"}], ids=str)
@pytest.mark.parametrize("train_static", [False, True])
def test_a_loaded_model_predicts_the_same(tmp_path, train_sentences, bilm_folder, static, elmo, train_static):
    folder = None if elmo is None else bilm_folder
    saved = saved_tagger(train_sentences, folder, static, train_static=train_static, **(elmo or {}))
    save(saved, tmp_path / "model")
    loaded = load(tmp_path / "model", device="cpu")
    assert loaded.vocabulary == saved.vocabulary
    assert loaded.metadata == {"seed": 1}
    torch.testing.assert_close(loaded.model.loss(train_sentences), saved.model.loss(train_sentences))
    assert loaded.model.predict(train_sentences) == saved.model.predict(train_sentences)
    assert (tmp_path / "model" / "bilm").is_dir() == bool(elmo and "train_bilm" in elmo)
    save(loaded, tmp_path / "again")
    torch.testing.assert_close(load(tmp_path / "again").model.loss(train_sentences), saved.model.loss(train_sentences))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_a_model_is_loaded_and_predicts_the_same_whatever_torchs_default_type(
    tmp_path, train_sentences, bilm_folder, dtype
):
    save(saved_tagger(train_sentences, bilm_folder, STATIC, placement="both"), tmp_path / "model")
    expected = load(tmp_path / "model").model
    try:
        torch.set_default_dtype(dtype)
        found = load(tmp_path / "model").model
        assert found.predict(train_sentences) == expected.predict(train_sentences)
    finally:
        torch.set_default_dtype(torch.float32)
    assert all(torch.equal(found.state_dict()[name], tensor) for name, tensor in expected.state_dict().items())


def test_a_model_with_its_bilm_needs_nothing_else(tmp_path, train_sentences, bilm_folder):
    save(saved_tagger(train_sentences, bilm_folder), tmp_path / "with", include_bilm=True)
    save(saved_tagger(train_sentences, bilm_folder), tmp_path / "without")
    moved = bilm_folder.rename(tmp_path / "elsewhere")
    expected = load(tmp_path / "with").model.predict(train_sentences)
    with pytest.raises(WeightFileError, match="name its place with --model|say where it is with --model"):
        load(tmp_path / "without")
    assert load(tmp_path / "without", model=str(moved)).model.predict(train_sentences) == expected


def test_another_bilm_is_refused(tmp_path, train_sentences, bilm_folder, tiny_config):
    save(saved_tagger(train_sentences, bilm_folder), tmp_path / "model")
    BiLM(tiny_config).save_pretrained(tmp_path / "other")
    with pytest.raises(WeightFileError, match="is not the biLM of the task model in .* of hash"):
        load(tmp_path / "model", model=str(tmp_path / "other"))


def test_tensors_of_another_label_set_are_refused(tmp_path, train_sentences):
    vocabulary = saved_tagger(train_sentences).vocabulary
    more = {**vocabulary, "labels": [*vocabulary["labels"], "ORG"]}
    edited(tmp_path / "model", train_sentences, "vocabulary", more)
    with pytest.raises(WeightFileError, match=r"model.safetensors.*crf.transitions|model.safetensors.*project"):
        load(tmp_path / "model")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("config.json", None, "not a task model: config.json is missing"),
        ("config.json", '{"architecture": {}}', "is a biLM, and not a model of a task"),
        ("config.json", "{}", "isn't the config of a task model"),
        ("model.safetensors", "x", "no safetensors file"),
        ("static_words.json", '["a"]', "holds a JSON list, not an object"),
    ],
)
def test_damaged_folders_are_told(tmp_path, train_sentences, name, content, message):
    save(saved_tagger(train_sentences, static=STATIC, train_static=True), tmp_path / "model")
    (tmp_path / "model" / name).unlink()
    (tmp_path / "model" / SUMS_FILE).unlink()
    if content is not None:
        (tmp_path / "model" / name).write_text(content)
    with pytest.raises(WeightFileError, match=message):
        load(tmp_path / "model")


@pytest.mark.parametrize("name", ["config.json", "static_words.json"])
def test_labels_and_words_in_another_order_are_noticed(tmp_path, train_sentences, name):
    saved = saved_tagger(train_sentences, static=STATIC, train_static=True)
    save(saved, tmp_path / "model")
    path = tmp_path / "model" / name
    values = json.loads(path.read_text())
    (values["vocabulary"]["labels"] if name == "config.json" else values["static"]).reverse()
    path.write_text(json.dumps(values))
    with pytest.raises(WeightFileError, match=f"model: {name} was changed .* since the model was saved"):
        load(tmp_path / "model")


def edited(folder, train_sentences, name, value):
    """The config of a saved model without checksums, one value of which is another now."""
    save(saved_tagger(train_sentences), folder)
    (folder / SUMS_FILE).unlink()
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {name: value}))
    return path


def test_a_folder_of_other_files_is_never_replaced(tmp_path, train_sentences):
    saved = saved_tagger(train_sentences)
    save(saved, tmp_path / "model")
    save(saved, tmp_path / "model", force=True)
    (tmp_path / "model" / "mine.txt").write_text("x")
    with pytest.raises(OSError, match="holds 'mine.txt'"):
        save(saved, tmp_path / "model", force=True)


def test_a_device_that_isnt_there_is_told(tmp_path, train_sentences):
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    save(saved_tagger(train_sentences), tmp_path / "model")
    with pytest.raises(ConfigError, match="finds no GPU"):
        load(tmp_path / "model", device="cuda")


def test_a_bilm_is_noted_by_a_path_that_is_true_from_everywhere(tmp_path, train_sentences, bilm_folder, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(saved_tagger(train_sentences, "bilm"), tmp_path / "model")
    facts = json.loads((tmp_path / "model" / "config.json").read_text())["bilm"]
    assert facts["model"] == str(tmp_path / "bilm")


def test_torchs_settings_change_no_prediction(tmp_path, train_sentences, bilm_folder):
    saved = saved_tagger(train_sentences, bilm_folder, STATIC)
    save(saved, tmp_path / "model")
    expected = list(predict(saved, train_sentences))
    with torch.device("meta"), torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
        assert list(predict(load(tmp_path / "model", device="cpu"), train_sentences)) == expected
