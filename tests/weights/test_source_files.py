"""The files of a foreign model: their SHA-256 is stated, and compared with that of published files."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from elmo.errors import WeightFileError
from elmo.weights import catalogue, formats
from elmo.weights.allennlp.write import write
from elmo.weights.describe import describe


@pytest.fixture
def published(tmp_path, random_checkpoint) -> Path:
    """A foreign model: HDF5 without our fingerprint."""
    write(random_checkpoint(), tmp_path / "model")
    weights = tmp_path / "model" / "weights.hdf5"
    weights.write_bytes(weights.read_bytes().replace(b"elmo_sha256", b"some_sha256"))
    return tmp_path / "model"


def sha256_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def known_hashes(monkeypatch):
    """`known_hashes(table)` makes the table the catalogue's hashes of the model "original"."""

    def set_hashes(table: dict[str, str]) -> None:
        known = catalogue.known_models()
        models = known | {"original": replace(known["original"], sha256=table)}
        monkeypatch.setattr(catalogue, "known_models", lambda: models)

    return set_hashes


def test_every_file_is_stated_and_nothing_is_written_beside_them(published):
    (published / "vocab.txt").write_text("<S>\n</S>\n<UNK>\n")
    before = {path: path.read_bytes() for path in published.iterdir()}
    checkpoint = formats.read(published)
    files = [published / name for name in ("options.json", "weights.hdf5", "vocab.txt")]
    assert [(file.path, file.sha256) for file in checkpoint.source_files] == [(path, sha256_of(path)) for path in files]
    lines = "".join(f"{sha256_of(path)}\n" for path in files)
    assert checkpoint.source_hash == hashlib.sha256(lines.encode()).hexdigest()
    assert {path: path.read_bytes() for path in published.iterdir()} == before


def test_all_files_of_many_langs_are_stated(golden_folder):
    pytest.importorskip("torch")
    found = {file.path.name for file in formats.read(golden_folder / "efml_word_and_char").source_files}
    assert {"char.dic", "word.dic", "config.json", "encoder.pkl", "token_embedder.pkl"} <= found


def test_a_published_file_is_compared_with_the_catalogue(published, known_hashes):
    weights = (published / "weights.hdf5").rename(published / "elmo_published_weights.hdf5")
    sha256 = sha256_of(weights)
    known_hashes({weights.name: sha256})
    facts = describe(formats.read(published))["source_files"]
    assert [file["published_as"] for file in facts] == [None, "original"]
    weights.write_bytes(weights.read_bytes()[:-1] + b"?")
    with pytest.raises(WeightFileError, match=f"but the published file of that name has {sha256}.*another name"):
        formats.read(published)


def test_a_published_file_under_another_name_is_recognized(published, known_hashes):
    known_hashes({"elmo_weights.hdf5": sha256_of(published / "weights.hdf5")})
    assert describe(formats.read(published))["source_files"][1]["published_as"] == "original"


def test_the_catalogue_holds_hashes_of_the_right_form():
    for model in catalogue.known_models().values():
        assert all(len(sha256) == 64 and int(sha256, 16) for sha256 in model.sha256.values())
