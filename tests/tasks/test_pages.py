"""Pages in docs/tasks/: their commands run in their order, on files of the user."""

import io
import json
import random
import re
import shlex
import sys
from pathlib import Path

import pytest

from elmo.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "tasks"
# A page's command trains for minutes; what is shown here is that it is right.
QUICK = {
    "ner": ["--epochs", "1", "--hidden-sizes", "4"],
    "sst": ["--epochs", "2", "--hidden-size", "4"],  # in the first one a biLM's layers are frozen
    "snli": ["--epochs", "1", "--hidden-size", "4"],
    "srl": ["--epochs", "1", "--hidden-size", "4", "--num-layers", "2"],
    "examples.sequence_autoencoder:TASK": [],
    "pretrain": ["--max-steps", "2", "--batch-size", "2", "--unroll-steps", "4", "--num-negative-samples", "4"],
}
ROLES = "She - (A0*)\nleft left (V*)\n\nHe - (A0*)\ntook took (V*)\nit - (A1*)\n\n"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    chance = random.Random(0)
    labels = ["entailment", "neutral", "contradiction"]
    for name in ("pairs", "test-pairs"):
        rows = [
            {"gold_label": chance.choice(labels), "sentence1": f"A man {number}.", "sentence2": "He sleeps."}
            for number in range(30)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (tmp_path / "questions.tsv").write_text("A man sleeps.\tNobody sleeps.\n", encoding="utf-8")
    for name in ("roles", "test-roles"):
        (tmp_path / f"{name}.conll").write_text(ROLES * 10, encoding="utf-8")
    for name in ("train", "dev", "test"):
        (tmp_path / f"{name}.conll").write_text("Anna B-PER\nlives O\nin O\nRome B-LOC\n\n" * 8, encoding="utf-8")
    lines = [f"Anna lives in Rome , house {number} .\n" for number in range(40)]
    (tmp_path / "text.txt").write_text("".join(lines), encoding="utf-8")
    for folder in ("configs", "examples"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    for name in ("reviews", "test-reviews"):
        (tmp_path / f"{name}.tsv").write_text("good\ta good film .\nbad\ta bad film .\n" * 8, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def commands(page):
    text = (FOLDER / f"{page}.md").read_text(encoding="utf-8")
    return [line for block in re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S) for line in block.splitlines()]


def run_line(line, monkeypatch):
    said, _, command = line.partition(" | ") if line.startswith("echo ") else ("", "", line)
    words = shlex.split(command)[1:]
    if words[1] == "train" or words[0] == "pretrain":
        words += QUICK[words[2] if words[1] == "train" else words[0]]
    given = shlex.split(said)[1] if said else ""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{given}\n".encode()), encoding="utf-8"))
    return main(words)


@pytest.mark.parametrize("page", ["ner", "sst", "snli", "srl", "whole-models"])
@pytest.mark.slow
def test_every_command_of_a_page_runs_in_its_order(page, monkeypatch):
    found = commands(page)
    assert len(found) >= 4
    for line in found:
        assert run_line(line, monkeypatch) == 0, line
