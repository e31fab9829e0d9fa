"""ServedModel: what is read of a model's files, and when."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

from elmo.embed.embedder import Embedder
from elmo.errors import WeightFileError
from elmo.serve.app import create_app
from elmo.serve.models import ServedModel
from elmo.serve.settings import ServeSettings
from elmo.weights import formats
from elmo.weights.checkpoint import Checkpoint
from elmo.weights.native.write import write


@pytest.fixture
def folder(tmp_path: Path, tiny_checkpoint: Checkpoint) -> Path:
    """A model with a softmax over three words."""
    softmax = {
        "weight": np.ones((3, tiny_checkpoint.config.projection_size), np.float32),
        "bias": np.ones(3, np.float32),
    }
    parts = Checkpoint(
        tiny_checkpoint.config, tiny_checkpoint.tensors, tiny_checkpoint.token_map, ["<S>", "</S>", "<UNK>"], softmax
    )
    write(parts, tmp_path / "tiny")
    return tmp_path / "tiny"


def test_the_files_are_read_once_and_its_vectors_are_those_of_the_embedder(folder, monkeypatch):
    read, calls = formats.read, []
    monkeypatch.setattr(formats, "read", lambda *given, **settings: calls.append(given) or read(*given, **settings))
    served = ServedModel.load(str(folder))
    assert (served.name, len(calls)) == ("tiny", 1)
    expected = Embedder.from_pretrained(folder).embed(["the bank was steep"])
    np.testing.assert_array_equal(served.embedder.embed(["the bank was steep"]), expected)


@pytest.mark.parametrize("path", [".", "./", "../tiny/"])
def test_a_folder_is_served_by_its_own_name_however_it_is_written(folder, monkeypatch, path):
    monkeypatch.chdir(folder)
    assert ServedModel.load(path).name == "tiny"


def test_the_softmax_is_not_kept_in_memory_until_a_request_needs_it(folder):
    assert ServedModel.load(str(folder)).embedder._network.checkpoint.softmax is None


def test_a_damaged_softmax_is_refused_before_the_server_listens(folder):
    file = folder / "softmax.safetensors"
    file.write_bytes(file.read_bytes()[:-1])
    Embedder.from_pretrained(folder)  # vectors don't need it
    with pytest.raises(WeightFileError, match="softmax"):
        ServedModel.load(str(folder))


def test_substitutes_of_files_that_were_removed_meanwhile_are_refused_as_the_servers_fault(folder):
    served = ServedModel.load(str(folder))
    shutil.rmtree(folder)
    with TestClient(create_app([served], ServeSettings(hosts=["testserver"]))) as client:
        answer = client.post("/v1/substitutes", json={"input": "a [b]"})
    error = answer.json()["error"]
    assert (answer.status_code, error["type"], error["code"]) == (503, "server_error", "model_files")
    assert "there is no such file or folder" in error["message"]
