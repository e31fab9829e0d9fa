"""Tasks on the systems that ELMo was compared with, found by their entry points."""

import json
from pathlib import Path

import pytest
import torch

from elmo.cli.main import main
from elmo.errors import ConfigError
from elmo.tasks.tokens.frozen_layers import find_encoder
from elmo_paper.cli.main import main as paper

pytestmark = pytest.mark.usefixtures("one_thread")

SMALL = ["--hidden-sizes", "8", "--character-filters", "6", "--epochs", "2", "--batch-size", "8", "--dropout", "0.1"]


def context2vec_folder(tmp_path: Path, data: Path) -> Path:
    text = [line.split()[0] if line else "\n" for line in data.read_text("utf-8").splitlines()]
    (tmp_path / "text.txt").write_text(" ".join(text) + "\n", encoding="utf-8")
    learn = ["--unit", "3", "--epochs", "1", "--min-count", "1", "--quiet"]
    assert paper(["context2vec", str(tmp_path / "text.txt"), "-o", str(tmp_path / "context2vec"), *learn]) == 0
    return tmp_path / "context2vec"


def cove_folder(tmp_path: Path, data: Path) -> Path:
    folder = tmp_path / "cove"
    folder.mkdir()
    torch.save(torch.nn.LSTM(3, 2, num_layers=2, bidirectional=True).state_dict(), folder / "mt.pth")
    (folder / "vectors.txt").write_text("the 1 0 0\nsaw 0 1 0\nanna 0 0 1\nrome 0 1 1\n")
    return folder


@pytest.mark.parametrize("made", [context2vec_folder, cove_folder])
def test_what_elmo_was_compared_with_can_take_its_place(tmp_path, data, capsys, made):
    folder = made(tmp_path, data)
    files = ["--train", str(data), "--dev", str(data), "--test", str(data), "-o", str(tmp_path / "run")]
    encoder = ["--encoder", folder.name, "--model", str(folder), "--placement", "both"]
    assert main(["task", "train", "ner", *files, *SMALL, *encoder, "--quiet"]) == 0
    (seed,) = json.loads((tmp_path / "run" / "scores.json").read_text())["per_seed"]
    assert len(seed["mix_weights"][0]["weights"]) == (1 if folder.name == "context2vec" else 2)
    capsys.readouterr()
    assert main(["task", "evaluate", str(tmp_path / "run"), str(data), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["f1"] == pytest.approx(seed["test"]["f1"])


@pytest.mark.parametrize("name", ["cove", "context2vec", "mssg"])
def test_a_system_without_its_files_is_told_how_they_are_named(name):
    with pytest.raises(ConfigError, match=f"the encoder '{name}' has no default model. Name its files"):
        find_encoder(name, "", device="cpu")
