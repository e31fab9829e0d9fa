"""What a person calls a model -> where its files are."""

from pathlib import Path

import huggingface_hub
import pytest

from elmo.errors import ConfigError, WeightFileError
from elmo.weights import catalogue, hub
from elmo.weights.catalogue import known_models
from elmo.weights.describe import count_parameters
from elmo.weights.formats import FORMATS, read
from elmo.weights.hub import resolve, upload
from elmo.weights.native.names import MODEL_FILE
from elmo.weights.native.write import write


@pytest.fixture(autouse=True)
def no_network(monkeypatch, tmp_path):
    """Every request of the hub is an error, as without a network; the working folder is empty."""

    def refuse(*_, **__):
        raise huggingface_hub.errors.LocalEntryNotFoundError("no network\nand more")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    monkeypatch.delenv("ELMO_MODEL", raising=False)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


@pytest.fixture
def bundled(tmp_path, monkeypatch, random_checkpoint) -> Path:
    """The folder of an installation's bundled model."""
    monkeypatch.setattr(catalogue, "_BUNDLED", tmp_path / "bundled")
    write(random_checkpoint(), tmp_path / "bundled" / "small-en")
    return tmp_path / "bundled" / "small-en"


def test_nothing_is_the_bundled_default_or_what_the_variable_names(bundled, tmp_path, monkeypatch):
    assert resolve() == resolve(None) == resolve("small-en") == bundled
    monkeypatch.setenv("ELMO_MODEL", "")
    assert resolve() == bundled
    monkeypatch.setenv("ELMO_MODEL", str(tmp_path))
    assert resolve() == tmp_path
    assert resolve("small-en") == bundled
    assert read(resolve("small-en")).source_format == "native"


def test_a_folder_called_like_a_bundled_model_is_had_by_its_path(bundled):
    Path("small-en").mkdir()
    assert resolve("small-en") == bundled
    assert resolve("./small-en") == resolve(Path("small-en")) == Path("small-en")


def test_an_installation_without_its_model_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(catalogue, "_BUNDLED", tmp_path / "nowhere")
    with pytest.raises(WeightFileError, match="small-en: this bundled model is not in this installation.*Install it"):
        resolve()


def test_existing_paths_are_themselves(tmp_path, monkeypatch):
    (tmp_path / "org").mkdir()
    (tmp_path / "org" / "name").write_text("")
    (tmp_path / "original").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for path in ("org/name", "original", str(tmp_path)):
        assert resolve(path) == resolve(Path(path)) == Path(path)
    assert resolve("~/original") == tmp_path / "original"


def test_a_pair_is_two_files_that_exist(tmp_path):
    options, weights = tmp_path / "options.json", tmp_path / "weights.hdf5"
    options.write_text("{}")
    with pytest.raises(WeightFileError, match=r"weights\.hdf5: there is no such file of weights.*pass the pair"):
        resolve((options, weights))
    weights.write_text("")
    assert resolve((str(options), weights)) == (options, weights)
    with pytest.raises(ConfigError, match="3 files"):
        resolve((options, weights, weights))


def test_a_published_name_says_which_files_to_get_and_how_to_pass_them():
    with pytest.raises(WeightFileError) as raised:
        resolve("original")
    for part in ("original: is a published model", "2x4096_512_2048cnn_2xhighway_weights.hdf5", "pass the pair"):
        assert part in str(raised.value)
    with pytest.raises(WeightFileError, match="pass the folder"):
        resolve("many-langs")


@pytest.mark.parametrize("model", ["nope", "no/such/path", "./nope", "/org/name", "../org", Path("org/name"), "a b/c"])
def test_anything_else_lists_the_bundled_models_and_asks_no_network(bundled, model, monkeypatch):
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda *_, **__: pytest.fail("asked the network"))
    with pytest.raises(WeightFileError, match="there is no such file or folder.*Bundled models: small-en"):
        resolve(model)


@pytest.mark.parametrize("model", ["", 3, b"x"])
def test_what_names_no_model_is_a_config_error(model):
    with pytest.raises(ConfigError, match="must be a name, a path or a pair"):
        resolve(model)


def test_a_hub_id_is_downloaded_with_the_files_of_a_model_only(tmp_path, monkeypatch):
    asked = []

    def download(hub_id, *, allow_patterns, local_files_only):
        asked.append((hub_id, allow_patterns, local_files_only))
        return str(tmp_path)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    assert resolve("org/my-model_1.0") == resolve("org/name", download=False) == tmp_path
    assert [(name, local) for name, _, local in asked] == [("org/my-model_1.0", False), ("org/name", True)]
    assert "*.safetensors" in asked[0][1]
    assert "*.py" not in asked[0][1]


def test_without_a_network_the_message_names_the_id_and_the_way_by_hand():
    with pytest.raises(WeightFileError) as raised:
        resolve("org/name")
    message = str(raised.value)
    assert message.startswith("org/name: is no file or folder here")
    assert "no network. Check" in message
    assert "'hf download org/name --local-dir FOLDER'" in message
    assert "\n" not in message


def test_upload_puts_a_model_folder_on_the_hub(bundled, monkeypatch, tmp_path):
    calls = []
    monkeypatch.setattr(huggingface_hub, "create_repo", lambda *a, **k: calls.append((a, k)))
    monkeypatch.setattr(huggingface_hub, "upload_folder", lambda *a, **k: calls.append((a, k)))
    assert upload(bundled, "org/name", private=True) == "https://huggingface.co/org/name"
    assert calls == [
        (("org/name",), {"private": True, "exist_ok": True}),
        ((), {"repo_id": "org/name", "folder_path": bundled}),
    ]
    with pytest.raises(WeightFileError, match=r"config\.json is missing"):
        upload(tmp_path, "org/name")


def test_an_upload_that_is_refused_says_what_to_do(bundled, monkeypatch):
    def refuse(*_, **__):
        raise OSError("401 Unauthorized")

    monkeypatch.setattr(huggingface_hub, "create_repo", refuse)
    with pytest.raises(WeightFileError, match="401 Unauthorized. Log in with 'hf auth login'"):
        upload(bundled, "org/name")


def test_the_catalogue_agrees_with_the_published_sizes():
    from elmo.config import PUBLISHED_SIZES

    for name, config in PUBLISHED_SIZES.items():
        assert known_models()[name].parameters == sum(count_parameters(config).values())
    assert known_models()["original-5.5B"].parameters == known_models()["original"].parameters
    assert next(iter(known_models())) == hub.DEFAULT_MODEL
    assert {model.format for model in known_models().values()} <= set(FORMATS)


def test_bundled_models_are_what_the_catalogue_says():
    folders = catalogue.bundled_folders()
    if not folders:
        pytest.skip("no bundled model in this source tree yet")
    for name, folder in folders.items():
        assert known_models()[name].parameters == sum(count_parameters(read(folder).config).values())
        assert set(known_models()[name].files) <= {path.name for path in folder.iterdir()}
        assert MODEL_FILE in known_models()[name].files
