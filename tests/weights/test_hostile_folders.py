"""Model folders with devices, FIFOs, bombs and huge values: a clear error within bounded time and memory.

Nothing here may hang: opening a FIFO that nobody writes to waits for ever.
"""

import json
import os
import resource
import shutil
import signal
import zlib
from pathlib import Path

import h5py
import numpy as np
import pytest
from tests.weights.tensorflow.bundles import table

from elmo.config import BiLMConfig
from elmo.errors import ElmoError, WeightFileError
from elmo.weights import formats
from elmo.weights.many_langs.read import architecture_file, read_token_map


@pytest.fixture(autouse=True)
def no_waiting():
    """A test that waits for ever ends after two minutes."""

    def stop(*_):
        raise TimeoutError("still waiting after two minutes")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(120)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(autouse=True)
def little_memory():
    """More than 1 GB beyond what is in use now is an error instead of a machine without memory."""
    limits = resource.getrlimit(resource.RLIMIT_AS)
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (in_use + (1 << 30), limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, limits)


@pytest.fixture
def many_langs(tmp_path, golden_folder) -> Path:
    return shutil.copytree(golden_folder / "efml_word_and_char", tmp_path / "many_langs")


def replace(path: Path, kind: str) -> None:
    path.unlink(missing_ok=True)
    if kind == "FIFO":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")


def refused(folder: Path) -> str:
    with pytest.raises(ElmoError) as raised:
        formats.read(folder)
    assert len(str(raised.value)) < 2000
    return str(raised.value)


@pytest.mark.parametrize("kind", ["FIFO", "character device"])
@pytest.mark.parametrize("name", ["vocab.txt", "tokens.json", "softmax.safetensors", "warm_state.safetensors"])
def test_no_file_of_our_own_folder_is_waited_for(native, name, kind):
    replace(native / name, kind)
    assert name in refused(native)


@pytest.mark.parametrize("kind", ["FIFO", "character device"])
@pytest.mark.parametrize("name", ["vocab.txt", "softmax.hdf5"])
def test_no_file_beside_published_weights_is_waited_for(published, name, kind):
    replace(published / name, kind)
    message = refused(published)
    assert name in message and f"it is a {kind}" in message


@pytest.mark.parametrize("kind", ["FIFO", "character device"])
@pytest.mark.parametrize("name", ["char.dic", "word.dic"])
def test_no_dictionary_is_waited_for(many_langs, name, kind):
    replace(many_langs / name, kind)
    rows = {"num_characters": 100, "num_words": 100, "word_dim": 4}
    with pytest.raises(WeightFileError, match=f"{name}: can't be read: it is a {kind}"):
        read_token_map(many_langs, BiLMConfig(characters="dictionary" if name == "char.dic" else "none", **rows))


@pytest.mark.parametrize("kind", ["FIFO", "character device"])
@pytest.mark.parametrize("name", ["options.json", "vocab.txt", "checkpoint"])
def test_no_file_of_a_training_checkpoint_is_waited_for(tmp_path, name, kind):
    (tmp_path / "model.ckpt-7.index").write_bytes(table({b"": b""}))
    replace(tmp_path / name, kind)
    if name != "options.json":
        (tmp_path / "options.json").write_text('{"lstm": {"dim": 6, "projection_dim": 4}}')
    (tmp_path / "model.ckpt-7.data-00000-of-00001").touch()
    message = refused(tmp_path)
    assert name == "checkpoint" or (f"/{name}: can't be read: it is a {kind}" in message)


def test_tokens_have_a_limit_that_follows_the_tensors(native):
    (native / "tokens.json").write_bytes(b"[" + b"[]," * 500_000 + b"[]]")
    assert "has more than 1,082,112 bytes, the limit for such a file (set ELMO_NO_LIMITS=1" in refused(native)


def test_a_list_of_words_has_a_limit_of_bytes(published, monkeypatch):
    monkeypatch.setattr("elmo.text.word_list.MAX_BYTES", 1000)
    (published / "vocab.txt").write_bytes(b"\n" * 1001)
    assert "vocab.txt: can't be read: it has more than 1,000 bytes" in refused(published)
    monkeypatch.setenv("ELMO_NO_LIMITS", "1")
    assert len(formats.read(published).vocabulary) == 1001


def test_names_too_long_for_the_file_system_are_no_files(many_langs, tmp_path):
    (many_langs / "config.json").write_text(json.dumps({"config_path": "a" * 5000}))
    assert architecture_file(many_langs) is None
    folder = tmp_path / "training"
    folder.mkdir()
    (folder / "checkpoint").write_text(f'model_checkpoint_path: "{"a" * 3000}"')
    assert "has 0 checkpoints (none)" in refused(folder)
    for path in (Path("a" * 5000), tmp_path / ("x" * 300)):
        message = refused(path)
        assert "File name too long" in message or "there is no such file" in message  # from Python 3.14 on


@pytest.mark.parametrize("name", ["/", ".", "..", "//", "a/..", "/somewhere/"])
def test_a_checkpoint_lies_in_its_own_folder(tmp_path, name):
    for folder in (tmp_path, tmp_path / "inside"):
        folder.mkdir(exist_ok=True)
        (folder / "options.json").write_text('{"lstm": {}}')
    (tmp_path / "inside.index").write_bytes(table({b"": b""}))
    (tmp_path / "inside" / "checkpoint").write_text(f'model_checkpoint_path: "{name}"')
    assert "has 0 checkpoints (none)" in refused(tmp_path / "inside")


@pytest.mark.parametrize("bytes_of_values", [1 << 28, 1 << 31])
def test_bombs_of_gzip_are_refused_by_the_bytes_of_all_datasets(published, bytes_of_values):
    """Chunks of zeros, compressed once and written many times."""
    chunk = np.zeros(1 << 20, "<f4")
    packed = zlib.compress(chunk.tobytes(), 9)
    with h5py.File(published / "weights.hdf5", "a") as file:
        del file.attrs["elmo_sha256"]
        for part in range(4):
            shape = (bytes_of_values // 4 // 4,)
            dataset = file.create_dataset(f"bomb{part}", shape, "<f4", chunks=chunk.shape, compression="gzip")
            for begin in range(0, shape[0], len(chunk)):
                dataset.id.write_direct_chunk((begin,), packed)
    assert "the datasets have more than " in refused(published)


def test_values_of_a_megabyte_make_no_long_message(published, native):
    options = json.loads((published / "options.json").read_text())
    long_value = {"char_cnn": options["char_cnn"] | {"activation": "x" * 900_000}}
    for change in ({"lstm": "x" * 900_000}, {"x" * 900_000: 1, "lstm": 1}, {"lstm": {"y" * 900_000: 1}}, long_value):
        (published / "options.json").write_text(json.dumps(options | change))
        refused(published)
    facts = json.loads((native / "config.json").read_text())
    for change in ({"format_version": "x" * 900_000}, {"metadata": "y" * 900_000}, {"architecture": "z" * 900_000}):
        (native / "config.json").write_text(json.dumps(facts | change))
        refused(native)


def test_a_device_or_a_fifo_is_no_model(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path in (Path("/dev/null"), Path("/dev/zero"), tmp_path / "fifo"):
        with pytest.raises(WeightFileError, match="is neither a file nor a folder"):
            formats.read(path)
