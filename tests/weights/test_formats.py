import json
import shutil
from dataclasses import replace

import pytest

from elmo.errors import ConfigError, WeightFileError
from elmo.weights.formats import read, recognize


@pytest.fixture
def model(random_checkpoint, random_softmax):
    words = [f"word{number}" for number in range(len(random_softmax["bias"]))]
    return replace(random_checkpoint(), softmax=random_softmax, vocabulary=words)


def test_a_published_folder_is_read_with_its_vocabulary_and_softmax(published, model, require_equal):
    assert recognize(published) == "allennlp"
    found = read(str(published))
    require_equal(found, model)
    assert found.vocabulary == model.vocabulary


@pytest.mark.parametrize("name", ["weights.hdf5", "options.json"])
def test_one_file_of_a_published_pair_finds_the_other(published, model, require_equal, name):
    assert recognize(published / name) == "allennlp"
    require_equal(read(published / name), model)


def test_a_pair_of_files_is_read_with_what_is_passed_and_nothing_else(published, model, require_equal):
    pair = (str(published / "options.json"), published / "weights.hdf5")
    require_equal(read(pair), replace(model, softmax=None))
    require_equal(read(pair, softmax=published / "softmax.hdf5"), model)
    with pytest.raises(WeightFileError, match="is not valid JSON"):
        read(pair[::-1])
    with pytest.raises(ConfigError, match="a pair is two paths"):
        read((*pair, published / "vocab.txt"))


@pytest.mark.parametrize("name", ["", "config.json", "model.safetensors"])
def test_a_native_folder_or_its_files_are_read(native, model, require_equal, name):
    assert recognize(native / name) == "native"
    require_equal(read(native / name), model)


def test_published_names_find_their_partner_among_several_models(published):
    for stem in ("elmo_small", "elmo_medium"):
        shutil.copy(published / "options.json", published / f"{stem}_options.json")
        shutil.copy(published / "weights.hdf5", published / f"{stem}_weights.hdf5")
    for name in ("options.json", "weights.hdf5"):
        (published / name).unlink()
    text = (published / "elmo_medium_options.json").read_text().replace('"relu"', '"tanh"')
    (published / "elmo_medium_options.json").write_text(text)
    assert read(published / "elmo_medium_weights.hdf5").config.activation == "tanh"
    assert read(published / "elmo_small_options.json").config.activation == "relu"
    # Whose softmax it is doesn't show.
    assert read(published / "elmo_small_options.json").softmax is None
    with pytest.raises(WeightFileError, match="needs one options file.* are 2: elmo_medium_options.json, elmo_small"):
        read(published)


def test_the_options_of_a_models_own_name_go_before_those_of_the_common_name(published):
    shutil.copy(published / "weights.hdf5", published / "elmo_small_weights.hdf5")
    text = (published / "options.json").read_text().replace('"relu"', '"tanh"')
    (published / "elmo_small_options.json").write_text(text)
    assert read(published / "elmo_small_weights.hdf5").config.activation == "tanh"
    assert read(published / "weights.hdf5").config.activation == "relu"


def test_a_weight_file_of_another_name_is_found(published, model, require_equal):
    (published / "weights.hdf5").rename(published / "model.hdf5")
    require_equal(read(published), model)


def test_weights_without_options_say_what_is_missing(published):
    (published / "options.json").unlink()
    for path in (published, published / "weights.hdf5"):
        with pytest.raises(WeightFileError, match="needs one options file .* there are 0: none"):
            read(path)


def test_a_folder_that_is_no_model_is_described(tmp_path):
    with pytest.raises(WeightFileError, match="holds no model; it has no files. Known are: a folder with config.json"):
        recognize(tmp_path)
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(WeightFileError, match="it has notes.txt. Known are"):
        read(tmp_path)
    with pytest.raises(WeightFileError, match="a file of no known model format.*Archives are to be unpacked first"):
        read(tmp_path / "notes.txt")
    with pytest.raises(WeightFileError, match="there is no such file or folder"):
        read(tmp_path / "nowhere")


def test_a_run_without_a_model_yet_names_its_latest_checkpoint(tmp_path):
    for step in (100, 200):
        (tmp_path / "checkpoints" / f"step-{step:08d}" / "model").mkdir(parents=True)
    with pytest.raises(
        WeightFileError, match=r"not written a model yet; it has 2 checkpoints.*: .*step-00000200.model\.$"
    ):
        read(tmp_path)


def test_arguments_of_the_published_format_are_refused_elsewhere(native, published):
    with pytest.raises(ConfigError, match="vocabulary was given, but .*native is a model of the native format"):
        read(native, vocabulary=published / "vocab.txt")


def test_every_golden_folder_is_recognized(shared):
    folders = [folder for folder in (shared / "golden").iterdir() if folder.is_dir() and folder.name != "tasks"]
    found = {folder.name: recognize(folder) for folder in folders}
    assert found.pop("efml_word_and_char") == "many_langs"
    assert set(found.values()) == {"allennlp"}
    options = json.loads((shared / "golden" / "bilm_tf_fixture" / "options.json").read_text())
    fixture = read(shared / "golden" / "bilm_tf_fixture")
    assert fixture.config.cell_size == options["lstm"]["dim"]
    assert fixture.vocabulary[0] == "Bournemouth"
