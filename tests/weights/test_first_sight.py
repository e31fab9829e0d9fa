"""Foreign files are known by the SHA-256 they had when they were first read."""

import hashlib
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from elmo.errors import WeightFileError
from elmo.weights import catalogue, formats
from elmo.weights.allennlp.write import write
from elmo.weights.describe import describe


@pytest.fixture(autouse=True)
def places(monkeypatch, tmp_path) -> None:
    """Records go where they go by default; the cache is the test's own."""
    monkeypatch.delenv("ELMO_HASH_RECORDS")
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def published(tmp_path, random_checkpoint) -> Path:
    """A foreign model: HDF5 without our fingerprint."""
    write(random_checkpoint(), tmp_path / "model")
    weights = tmp_path / "model" / "weights.hdf5"
    weights.write_bytes(weights.read_bytes().replace(b"elmo_sha256", b"some_sha256"))
    return tmp_path / "model"


def flip(path: Path, position: int, bit: int = 1) -> None:
    content = bytearray(path.read_bytes())
    content[position] ^= bit
    path.write_bytes(bytes(content))


def place_of_values(path: Path, values: np.ndarray) -> int:
    return path.read_bytes().index(values.tobytes())


def known_from(folder: Path) -> dict[str, str]:
    return {file.path.name: file.known_from for file in formats.read(folder).source_files}


def test_the_first_load_records_what_later_ones_compare(published):
    assert known_from(published) == {"options.json": "first sight", "weights.hdf5": "first sight"}
    assert known_from(published) == {"options.json": "record", "weights.hdf5": "record"}
    assert sorted(path.name for path in published.iterdir()) == ["options.json", "weights.hdf5", "weights.hdf5.sha256"]


def test_the_record_is_one_that_sha256sum_reads(published):
    formats.read(published)
    result = subprocess.run(["sha256sum", "-c", "weights.hdf5.sha256"], cwd=published, capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (0, "options.json: OK\nweights.hdf5: OK\n")


def test_a_flipped_bit_in_the_values_is_refused_from_the_second_load_on(published):
    tensors = formats.read(published).tensors
    weights = published / "weights.hdf5"
    flip(weights, place_of_values(weights, tensors["token_encoder.projection.bias"]))
    with pytest.raises(WeightFileError) as raised:
        formats.read(published)
    message = str(raised.value)
    assert message.startswith(
        f"{weights}: has the SHA-256 {hashlib.sha256(weights.read_bytes()).hexdigest()}, but had "
    )
    assert message.count("weights.hdf5.sha256") == 1
    assert "Get it again; if you changed it on purpose, delete its line in that record." in message


def test_other_options_are_refused_and_a_deleted_line_lets_them_pass(published):
    formats.read(published)
    options, record = published / "options.json", published / "weights.hdf5.sha256"
    options.write_text(options.read_text().replace("true", "false"))
    with pytest.raises(WeightFileError, match="options.json: has the SHA-256"):
        formats.read(published)
    record.write_text("".join(line for line in record.read_text().splitlines(True) if "options" not in line))
    assert known_from(published) == {"options.json": "first sight", "weights.hdf5": "record"}
    assert formats.read(published).config.skip_connections is False


def test_files_that_come_later_are_added(published, random_softmax):
    formats.read(published)
    (published / "vocab.txt").write_text("<S>\n</S>\n<UNK>\n")
    assert known_from(published)["vocab.txt"] == "first sight"
    assert known_from(published)["vocab.txt"] == "record"
    assert len((published / "weights.hdf5.sha256").read_text().splitlines()) == 2 + 3


def test_where_the_folder_cannot_be_written_the_cache_has_the_record(published, monkeypatch, tmp_path):
    monkeypatch.setenv("ELMO_HASH_RECORDS", "cache")
    checkpoint = formats.read(published)
    assert {file.known_from for file in checkpoint.source_files} == {"first sight"}
    assert all(file.record.is_relative_to(tmp_path / "cache") for file in checkpoint.source_files)
    assert not (published / "weights.hdf5.sha256").exists()
    flip(published / "weights.hdf5", -1)
    with pytest.raises(WeightFileError, match="weights.hdf5: has the SHA-256"):
        formats.read(published)


def test_without_any_place_nothing_is_known_and_nothing_breaks(published, monkeypatch):
    monkeypatch.setenv("ELMO_HASH_RECORDS", "off")
    for _ in range(2):
        assert known_from(published) == {"options.json": "nothing", "weights.hdf5": "nothing"}
    monkeypatch.setenv("ELMO_HASH_RECORDS", "cache")
    monkeypatch.setenv("ELMO_CACHE", str(published / "options.json"))
    assert known_from(published) == {"options.json": "nothing", "weights.hdf5": "nothing"}


@pytest.mark.parametrize("content", ["nonsense\n", "0" * 64 + " one.space\n", "\x00"])
def test_a_damaged_record_is_named_with_its_line(published, content):
    (published / "weights.hdf5.sha256").write_text("# head\n" + content)
    with pytest.raises(WeightFileError, match=r"weights.hdf5.sha256:2: is not 'SHA-256  NAME'"):
        formats.read(published)


def test_files_of_a_pair_in_two_folders_are_known_by_their_paths(published, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    options = (published / "options.json").rename(tmp_path / "elsewhere" / "options.json")
    for expected in ("first sight", "record"):
        found = formats.read((options, published / "weights.hdf5")).source_files
        assert [file.known_from for file in found] == [expected] * 2
    assert str(options) in (published / "weights.hdf5.sha256").read_text()


def test_what_our_own_writer_replaces_is_forgotten(published, random_checkpoint, monkeypatch):
    for place in ("", "cache"):
        monkeypatch.setenv("ELMO_HASH_RECORDS", place)
        formats.read(published)
        model = random_checkpoint()
        model = replace(model, tensors=model.tensors | {"token_encoder.projection.bias": np.ones(4, np.float32)})
        write(model, published, force=True)
        assert formats.read(published).tensors["token_encoder.projection.bias"].tolist() == [1] * 4


@pytest.fixture
def known_hashes(monkeypatch):
    """`known_hashes(table)` makes the table the catalogue's hashes of the model "original"."""

    def set_hashes(table: dict[str, str]) -> None:
        known = catalogue.known_models()
        models = known | {"original": replace(known["original"], sha256=table)}
        monkeypatch.setattr(catalogue, "known_models", lambda: models)

    return set_hashes


def test_a_published_file_is_compared_with_the_catalogue_from_the_first_time_on(published, known_hashes):
    weights = (published / "weights.hdf5").rename(published / "elmo_published_weights.hdf5")
    sha256 = hashlib.sha256(weights.read_bytes()).hexdigest()
    known_hashes({weights.name: sha256})
    facts = describe(formats.read(published))["source_files"]
    assert [(file["known_from"], file["published_as"]) for file in facts] == [
        ("first sight", None),
        ("catalogue", "original"),
    ]
    flip(weights, -1)
    with pytest.raises(WeightFileError, match=f"but the published file of that name has {sha256}.*another name"):
        formats.read(published)


def test_a_published_file_under_another_name_is_recognized(published, known_hashes):
    known_hashes({"elmo_weights.hdf5": hashlib.sha256((published / "weights.hdf5").read_bytes()).hexdigest()})
    assert describe(formats.read(published))["source_files"][1]["published_as"] == "original"


def test_the_catalogue_holds_hashes_of_the_right_form():
    for model in catalogue.known_models().values():
        assert all(len(sha256) == 64 and int(sha256, 16) for sha256 in model.sha256.values())


def test_models_of_many_langs_are_recorded_too(golden_folder, tmp_path):
    pytest.importorskip("torch")  # opens the pickle
    folder = shutil.copytree(golden_folder / "efml_word_and_char", tmp_path / "model")
    found = known_from(folder)
    assert {"char.dic", "word.dic", "config.json", "encoder.pkl", "token_embedder.pkl"} <= set(found)
    assert set(found.values()) == {"first sight"}
    flip(folder / "encoder.pkl", -2000)
    with pytest.raises(WeightFileError):
        formats.read(folder)
    words = (folder / "word.dic").read_bytes()
    (folder / "word.dic").write_bytes(words + b"another\t5\n")
    with pytest.raises(WeightFileError):
        formats.read(folder)
