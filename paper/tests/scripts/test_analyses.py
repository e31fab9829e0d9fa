"""The script of all analyses runs to its end on tiny files, and keeps what is there when it runs again."""

import lzma
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from elmo.weights.native.write import write

ROOT = Path(__file__).resolve().parents[3]
SENSES = ROOT / "paper" / "tests" / "analysis" / "senses" / "corpus"

pytestmark = pytest.mark.slow


@pytest.fixture
def place(tmp_path: Path, tiny_bilm, play_corpus) -> Path:
    """A model, data in the layout that the script asks for, and the commands."""
    write(tiny_bilm.to_checkpoint(), tmp_path / "tiny")
    (tmp_path / "bin").mkdir()
    for name in ("elmo", "elmo-paper"):
        command = tmp_path / "bin" / name
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {name.replace("-", "_")} "$@"\n')
        command.chmod(0o755)
    chance = random.Random(0)
    words = ["the", "spring", "play", "was", "warm", ".", "bank"]
    lines = [" ".join(chance.choices(words, k=chance.randrange(3, 9))) for _ in range(60)]
    packed(tmp_path / "data" / "lm-en" / "train.txt.xz", lines)
    packed(tmp_path / "data" / "lm-en" / "test.txt.xz", lines[:30])
    tags = [
        f"{place}\t{word}\t_\tX\t{tag}" + "\t_" * 5
        for place, (word, tag) in enumerate([("the", "D"), ("bank", "N")], 1)
    ]
    for part in ("train", "dev", "test"):
        packed(tmp_path / "data" / "pos" / "ud-en-ewt" / f"{part}.conllu.xz", [*tags, ""] * 30)
    play_corpus(tmp_path / "data" / "wsd" / "semcor", "semcor", lzma.compress, ".xz")
    pairs = tmp_path / "data" / "mt" / "multi30k-en-de"
    for language in ("en", "de"):
        packed(pairs / f"train.{language}.xz", lines)
        for part in ("dev", "test"):
            (pairs / f"{part}.{language}").write_text("\n".join(lines[:9]) + "\n", encoding="utf-8")
    packed(tmp_path / "data" / "wsd" / "sense-inventory.tsv.xz", (SENSES / "senses.tsv").read_text().splitlines())
    (tmp_path / "data" / "wsd-raganato").mkdir()
    for name in ("senseval2", "senseval3", "semeval2013", "semeval2007"):
        for ending in ("data.xml", "gold.key.txt"):
            shutil.copy(SENSES / f"t.{ending}", tmp_path / "data" / "wsd-raganato" / f"{name}.{ending}")
    return tmp_path


def packed(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress(("\n".join(lines) + "\n").encode()))


def run(place: Path) -> str:
    path = os.pathsep.join(filter(None, (str(ROOT / "src"), str(ROOT / "paper" / "src"), os.environ.get("PYTHONPATH"))))
    environment = os.environ | {"PATH": f"{place / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": path, "COVE": "1"}
    command = [ROOT / "paper" / "scripts" / "analyses.sh", place / "tiny", place / "out", place / "data"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    return done.stdout


def test_all_analyses_of_a_model_are_recorded_once(place):
    shown = run(place)
    records = {path.name: path.stat().st_mtime_ns for path in (place / "out").glob("*.json")}
    assert set(records) == {f"{name}-tiny.json" for name in ("neighbors", "precision", "wsd", "pos", "geometry")}
    assert all(theirs in shown for theirs in ("Iacobacci et al. 2016", "Ling et al. 2015"))
    assert "CoVe, layer 2" in (place / "out" / "wsd-tiny.txt").read_text("utf-8")
    run(place)
    assert {path.name: path.stat().st_mtime_ns for path in (place / "out").glob("*.json")} == records
