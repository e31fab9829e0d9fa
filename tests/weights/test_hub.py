"""What a person calls a model -> where its files are."""

import shutil
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from elmo.embed.embedder import Embedder
from elmo.errors import ConfigError, OutputError, WeightFileError
from elmo.weights import catalogue, hub
from elmo.weights.catalogue import known_models
from elmo.weights.describe import count_parameters
from elmo.weights.formats import read
from elmo.weights.hub import lasting_name, resolve
from elmo.weights.native.names import MODEL_FILE
from elmo.weights.native.write import write

huggingface_hub = pytest.importorskip("huggingface_hub")


@pytest.fixture(autouse=True)
def no_network(monkeypatch, tmp_path):
    """Every request of the hub is an error, as without a network; the working folder is empty."""

    def refuse(*_, **__):
        raise huggingface_hub.errors.LocalEntryNotFoundError("no network\nand more")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    monkeypatch.setattr(huggingface_hub, "model_info", refuse)
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path / "cache"))
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


def test_a_zip_archive_is_unpacked_once_for_each_content(tmp_path, random_checkpoint):
    write(random_checkpoint(), tmp_path / "one" / "model")
    archive = Path(shutil.make_archive(str(tmp_path / "model"), "zip", tmp_path / "one"))
    folder = resolve(archive)
    assert folder.is_relative_to(tmp_path / "cache")
    assert sorted(path.name for path in folder.iterdir()) == sorted(p.name for p in (tmp_path / "one/model").iterdir())
    before = folder.stat().st_mtime_ns
    assert resolve(str(archive)) == folder
    assert folder.stat().st_mtime_ns == before
    shutil.rmtree(tmp_path / "cache" / "published")
    (tmp_path / "cache" / "published").write_text("a cache that can only be read")
    assert resolve(archive) == folder
    (tmp_path / "cache" / "published").unlink()
    write(random_checkpoint(cell_size=8), tmp_path / "two" / "model")
    archive.unlink()
    shutil.make_archive(str(tmp_path / "model"), "zip", tmp_path / "two")
    assert resolve(archive) != folder
    assert Embedder.from_pretrained(archive).model_hash == Embedder.from_pretrained(tmp_path / "two/model").model_hash


@pytest.mark.parametrize(
    ("files", "message"),
    [({"a.txt": "b"}, "contains no ELMo model but a.txt"), ({"../a": "b"}, "contains no ELMo model but a")],
)
def test_a_zip_archive_without_a_model_or_with_a_hostile_one_leaves_nothing(tmp_path, files, message):
    with zipfile.ZipFile(tmp_path / "model.zip", "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    with pytest.raises(WeightFileError, match=message):
        resolve(tmp_path / "model.zip")
    assert not list((tmp_path / "cache").glob("unpacked/*"))


def test_a_folder_called_like_a_bundled_model_is_had_by_its_path(bundled):
    Path("small-en").mkdir()
    assert resolve("small-en") == bundled
    assert resolve("./small-en") == resolve(Path("small-en")) == Path("small-en")


def test_existing_paths_are_themselves(tmp_path, monkeypatch):
    (tmp_path / "org").mkdir()
    (tmp_path / "org" / "name").write_text("")
    (tmp_path / "original").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for path in ("org/name", "original", str(tmp_path)):
        assert resolve(path) == resolve(Path(path)) == Path(path)
    assert resolve("~/original") == tmp_path / "original"


def test_a_note_of_a_model_holds_from_any_folder(bundled, tmp_path, random_checkpoint, monkeypatch):
    write(random_checkpoint(), tmp_path / "run" / "model")
    (tmp_path / "small-en").mkdir()
    monkeypatch.chdir(tmp_path)
    assert lasting_name("run") == lasting_name("run/../run") == str(tmp_path / "run")
    found = [lasting_name(name) for name in ("", "small-en", "org/name@main")]
    assert found == ["small-en", "small-en", "org/name@main"]
    monkeypatch.setenv("ELMO_MODEL", "run")
    assert lasting_name("") == str(tmp_path / "run")


@pytest.mark.parametrize("given", ["small-en", None, ("options.json", "weights.hdf5"), Path("model")])
def test_a_name_in_place_of_a_model_ends_in_the_call_that_loads_it(given):
    call = "" if given is None else repr(given)
    with pytest.raises(ConfigError) as caught:
        Embedder(given)
    assert str(caught.value).startswith(f"Embedder(...) was given {given!r}, but takes a BiLM or a Checkpoint.")
    assert str(caught.value).endswith(f"by Embedder.from_pretrained({call}).")
    with pytest.raises(ConfigError, match="was given"):  # not that a name has no warm state
        Embedder(given, state="warm")


def test_a_pair_is_two_files_that_exist(tmp_path):
    options, weights = tmp_path / "options.json", tmp_path / "weights.hdf5"
    options.write_text('{"lstm": {}}')
    assert resolve((str(options), weights)) == (options, weights)
    with pytest.raises(WeightFileError, match="weights.hdf5: there is no such file"):
        read((options, weights))
    for pair in ((options, weights, weights), (None, None), ("options.json", 3)):
        with pytest.raises(ConfigError, match="a pair is two paths"):
            resolve(pair)


def test_a_published_name_without_a_network_says_which_files_to_get_and_where_to_put_them(tmp_path):
    with pytest.raises(WeightFileError) as raised:
        resolve("original", download=False)
    for part in ("not downloaded yet", "2x4096_512_2048cnn_2xhighway_weights.hdf5", str(tmp_path / "cache")):
        assert part in str(raised.value)
    with pytest.raises(WeightFileError, match="many-langs: ELMo.* has no such language. Name one as many-langs/CODE"):
        resolve("many-langs")
    with pytest.raises(WeightFileError, match="german: no address of this model is known. Get its"):
        resolve("german")
    with pytest.raises(WeightFileError, match="many-langs/xx: .* has no such language"):
        resolve("many-langs/xx")
    with pytest.raises(WeightFileError, match="nlpl:../7: is not nlpl:NUMBER"):
        resolve("nlpl:../7")


_NO_HUB_IDS = ["nope", "no/such/path", "./nope", "/org/name", "../org", "a b/c", "run/options.json", "run/weights.hdf5"]


@pytest.mark.parametrize("model", [*_NO_HUB_IDS, Path("org/name")])
def test_anything_else_lists_the_bundled_models_and_asks_no_network(bundled, model, monkeypatch):
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda *_, **__: pytest.fail("asked the network"))
    with pytest.raises(WeightFileError, match="there is no such file or folder.*Bundled models: small-en"):
        resolve(model)


class PretendedHub:
    """One repository, and what was asked of it."""

    def __init__(self, folder: Path, monkeypatch) -> None:
        self.folder, self.commit, self.sizes, self.asked = folder, "a" * 40, {"config.json": 10}, []
        monkeypatch.setattr(huggingface_hub, "model_info", self.model_info)
        monkeypatch.setattr(huggingface_hub, "snapshot_download", self.snapshot_download)

    def model_info(self, name, *, revision, files_metadata):
        files = [SimpleNamespace(rfilename=name, size=size) for name, size in self.sizes.items()]
        return SimpleNamespace(sha=self.commit, siblings=files)

    def snapshot_download(self, name, *, revision, allow_patterns, local_files_only):
        self.asked.append((name, revision, local_files_only))
        self.patterns = allow_patterns
        return str(self.folder)


@pytest.fixture
def pretended_hub(tmp_path, monkeypatch) -> PretendedHub:
    return PretendedHub(tmp_path, monkeypatch)


def test_a_hub_id_is_downloaded_with_the_files_of_a_model_only(pretended_hub, tmp_path):
    assert resolve("org/my-model_1.0") == resolve("org/name", download=False) == tmp_path
    assert pretended_hub.asked == [("org/my-model_1.0", "a" * 40, False), ("org/name", None, True)]
    assert "*.safetensors" in pretended_hub.patterns
    assert not {"*.py", "*.pkl"} & set(pretended_hub.patterns)


def test_a_name_means_the_commit_it_meant_first(pretended_hub):
    resolve("org/name")
    pretended_hub.commit = "b" * 40
    resolve("org/name")
    resolve("org/name@main")
    resolve("org/name@" + "c" * 40)
    resolve("org/name", download=False)
    assert [revision[0] for _, revision, _ in pretended_hub.asked] == ["a", "a", "b", "c", "a"]


def test_a_record_that_cannot_be_written_is_an_error(pretended_hub, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path / "file"))
    with pytest.raises(OutputError, match="can't be .*ELMO_CACHE|can't be written"):
        resolve("org/name")


def test_more_bytes_than_a_model_has_are_not_downloaded(pretended_hub):
    pretended_hub.sizes = {"model.safetensors": 9 << 30, "film.mp4": 1 << 40}
    with pytest.raises(WeightFileError, match="its files have 9,663,676,416 bytes, a model at most 8,589,934,592"):
        resolve("org/name")
    assert pretended_hub.asked == []


@pytest.mark.parametrize("model", ["a" * 5000, "x" * 300, "a/" * 3000 + "b", Path("y" * 300)])
def test_a_name_too_long_for_a_file_is_no_model(bundled, model):
    with pytest.raises(WeightFileError, match="File name too long") as told:
        resolve(model)
    assert len(str(told.value)) < 1000


@pytest.mark.parametrize("model", ["~nouser-of-this-system/foo", "~nouser-of-this-system"])
def test_a_home_of_nobody_is_no_model(bundled, model):
    with pytest.raises(WeightFileError, match="there is no such file or folder"):
        resolve(model)


def test_the_folder_of_a_run_means_the_model_in_it(tmp_path, random_checkpoint):
    write(random_checkpoint(), tmp_path / "run" / "model")
    (tmp_path / "run" / "config.json").write_text("{}")
    assert resolve(tmp_path / "run") == resolve(str(tmp_path / "run")) == tmp_path / "run" / "model"
    assert read(tmp_path / "run").config == random_checkpoint().config


def test_an_error_of_the_http_client_is_no_bug_of_elmo(monkeypatch):
    class ConnectError(Exception):
        """Like that of httpx2: neither OSError nor ValueError."""

    def refuse(*_, **__):
        raise ConnectError("Name or service not known")

    monkeypatch.setattr(huggingface_hub, "model_info", refuse)
    with pytest.raises(WeightFileError, match="org/name: is not a file or folder here.*not known. Check the spelling"):
        resolve("org/name")


def test_without_a_network_the_message_names_the_id_and_the_way_by_hand():
    with pytest.raises(WeightFileError) as raised:
        resolve("org/name")
    message = str(raised.value)
    assert message.startswith("org/name: is not a file or folder here")
    assert "no network. Check" in message
    assert "'hf download org/name --local-dir FOLDER'" in message
    assert "\n" not in message


def test_the_catalogue_agrees_with_the_published_sizes():
    from elmo.config import PUBLISHED_SIZES

    for name, config in PUBLISHED_SIZES.items():
        assert known_models()[name].parameters == sum(count_parameters(config).values())
    assert known_models()["original-5.5B"].parameters == known_models()["original"].parameters
    assert next(iter(known_models())) == hub.DEFAULT_MODEL
    assert {model.format for model in known_models().values()} <= {"native", "allennlp", "many_langs"}


def test_bundled_models_are_what_the_catalogue_says():
    folders = catalogue.bundled_folders()
    if not folders:
        pytest.skip("no bundled model in this source tree yet")
    for name, folder in folders.items():
        assert known_models()[name].parameters == sum(count_parameters(read(folder).config).values())
        assert set(known_models()[name].files) <= {path.name for path in folder.iterdir()}
        assert MODEL_FILE in known_models()[name].files
