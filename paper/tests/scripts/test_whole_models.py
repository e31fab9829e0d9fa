"""The script of whole models makes each of its texts whole or not at all, also if it is ended in the middle."""

import lzma
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
HANGUL = "고양이"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Data in the layout that the script asks for, and commands in the place of `elmo`, `python` and `xzcat`."""
    general = "".join(f"sentence {number} {HANGUL} .\n" for number in range(1000))
    trees = "(3 (2 A) (4 (3 good) (2 film)))\n" * 3
    table = "id\tdocument\tlabel\n" + "".join(f"{number}\t{HANGUL} {number} 재미있다\t1\n" for number in range(1, 25))
    data = tmp_path / "data"
    for name, content in {
        "lm-en-modern/train.txt.xz": general,
        "lm-ko/train.txt.xz": general,
        "licence-unstated/sst5/train.txt.xz": trees,
        "ko/nsmc-derived/train.txt.xz": table,
    }.items():
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_bytes(lzma.compress(content.encode()))
    commands = {
        "elmo": f'echo "$@" >>"{tmp_path}/commands"',
        "python": f'exec "{sys.executable}" "$@"',
        "xzcat": f'"{sys.executable}" "{tmp_path}/xzcat.py" "$1"; [ ! -e "{tmp_path}/broken" ]',
    }
    (tmp_path / "xzcat.py").write_text("import lzma, sys\nsys.stdout.buffer.write(lzma.open(sys.argv[1]).read())\n")
    (tmp_path / "bin").mkdir()
    for name, command in commands.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{command}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    return tmp_path


def run(place: Path, section: str) -> int:
    path = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))
    environment = os.environ | {"PATH": f"{place / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": path}
    command = [ROOT / "paper" / "scripts" / "whole_models.sh", place / "data", place / "work", section]
    return subprocess.run(command, capture_output=True, env=environment, check=False).returncode


def test_a_text_that_was_not_finished_is_made_again(place):
    (place / "broken").touch()  # xzcat fails after it has written something
    assert run(place, "en") != 0
    assert not (place / "work" / "en" / "general.txt").exists()
    assert not (place / "commands").exists()
    (place / "broken").unlink()
    assert run(place, "en") == 0
    lines = (place / "work" / "en" / "general.txt").read_text("utf-8").splitlines()
    assert lines == [f"sentence {number} {HANGUL} ." for number in range(200)]
    assert (place / "work" / "en" / "task.txt").read_text("utf-8") == "A good film\n" * 3
    assert (place / "work" / "en" / "fewer.txt").read_text("utf-8").splitlines() == [*lines, *["A good film"] * 3]


def test_korean_reviews_are_a_sixth_of_the_table_and_their_sentences(place):
    assert run(place, "ko") == 0
    rows = (place / "work" / "ko" / "train.txt").read_text("utf-8").splitlines()
    assert [row.split("\t")[0] for row in rows] == ["id", "5", "11", "17", "23"]  # lines 6, 12, 18 and 24
    sentences = (place / "work" / "ko" / "task.txt").read_text("utf-8").splitlines()
    assert sentences == [f"{HANGUL} {number} 재미있다" for number in (5, 11, 17, 23)]
    assert len((place / "work" / "ko" / "general.txt").read_text("utf-8").splitlines()) == 400
    trained = [line.split()[:3] for line in (place / "commands").read_text().splitlines()]
    assert [words[0] for words in trained] == ["prepare", "pretrain", *["task"] * 5]
