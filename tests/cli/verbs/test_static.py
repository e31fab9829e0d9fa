"""`elmo static` as it is typed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import elmo
from elmo.cli.verbs.static import main
from elmo.errors import OutputError, TextError
from elmo.static.senses import read_sense_vectors
from elmo.static.vectors import read_static_vectors


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("The cat sat\nthe dog sat\n" * 30, encoding="utf-8")
    return path


def command(text, output, *more):
    return [str(text), "-o", str(output), "--kind", "glove", "--dim", "6", "--epochs", "2", *more]


def test_a_text_becomes_a_file_of_vectors(tmp_path, text, capsys, terminal, on_terminal):
    output = tmp_path / "new" / "vectors.txt"
    assert on_terminal(main, command(text, output, "--lower-case", "--json")) == 0
    told = capsys.readouterr()
    report = json.loads(told.out)
    assert {"words": 4, "dim": 6, "tokens": 180, "sentences": 60}.items() <= report.items()
    assert any(line.startswith("training: 100%") for line in terminal.screen)
    found = read_static_vectors(output)
    assert (found.words, found.dim) == (("sat", "the", "cat", "dog"), 6)
    assert [path.name for path in output.parent.iterdir()] == ["vectors.txt"]


def test_an_existing_file_is_kept_without_force_and_by_a_failure(tmp_path, text, capsys):
    output = tmp_path / "vectors.txt"
    output.write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        main(command(text, output))
    with pytest.raises(TextError, match="none of the 5 distinct words"):
        main(command(text, output, "--force", "--min-count", "1000"))
    assert output.read_text() == "mine"
    assert main(command(text, output, "--force", "--quiet")) == 0
    assert capsys.readouterr().out == ""
    assert len(read_static_vectors(output)) == 5
    assert {path.name for path in tmp_path.iterdir()} == {"text.txt", "vectors.txt"}


@pytest.mark.parametrize("senses", [["--senses", "2"], ["--new-sense-below", "0.9"]])
def test_a_text_becomes_vectors_of_senses(tmp_path, capsys, senses):
    text, output = tmp_path / "text.txt", tmp_path / "senses.txt"
    text.write_text("강가 은행 에 앉았다\n은행 에서 돈 을 빌렸다\n" * 30, encoding="utf-8")
    command = [str(text), "-o", str(output), "--kind", "mssg", "--dim", "6", "--subsample", "0", *senses]
    assert main([*command, "--json", "--quiet"]) == 0
    report = json.loads(capsys.readouterr().out)
    found = read_sense_vectors(output)
    assert report["words"] == len(found.static) == 8 and report["senses"] == len(found.vectors) > 8
    assert len(found.rows("은행")) >= 2
    assert main([*command, "--force"]) == 0
    assert f"8 words with {report['senses']} senses of dimension 6, from 270 tokens" in capsys.readouterr().out


@pytest.mark.slow
def test_a_killed_run_leaves_no_half_file_and_the_next_one_is_whole(tmp_path):
    text, output = tmp_path / "text.txt", tmp_path / "senses.txt"
    text.write_text("".join(f"word{number % 3_000} and more\n" for number in range(15_000)), encoding="utf-8")
    command = [sys.executable, "-m", "elmo", "static", str(text), "-o", str(output), "--kind", "mssg", "--quiet"]
    environment = {**os.environ, "PYTHONPATH": str(Path(elmo.__file__).parents[1]), "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, env=environment) as run:
        while run.poll() is None and not any(path.stat().st_size for path in tmp_path.glob(".senses*")):
            time.sleep(0.01)
        run.kill()
    assert run.returncode == -signal.SIGKILL
    assert not output.exists() and list(tmp_path.glob(".senses*"))
    assert main(command[4:]) == 0
    assert len(read_sense_vectors(output).static) == 3_002
