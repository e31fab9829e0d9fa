"""Standard streams that are closed, full or read by nobody: a message or nothing, never a traceback."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import elmo
from elmo.cli.main import main

SOURCE = Path(elmo.__file__).parents[1]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"}

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")]


def shell(command: str, **settings) -> subprocess.CompletedProcess[str]:
    """`command` with "elmo" for the program."""
    program = f"{sys.executable} -m elmo"
    return subprocess.run(
        command.replace("elmo", program, 1), shell=True, capture_output=True, text=True, env=ENVIRONMENT, **settings
    )


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        ("elmo --version >&-", 0, ""),
        ("elmo --version > /dev/full", 2, "standard output: can't be written: No space left"),
        ("elmo nonsense 2>&-", 2, ""),
        ("elmo nonsense 2> /dev/full", 2, ""),
        ("elmo --version <&- 2>&-", 0, ""),
        ("elmo embed - <&-", 2, "standard input is closed"),
        ("elmo embed - -o x.h5 <&-", 2, "standard input is closed"),
        ("elmo perplexity small-en - <&-", 2, "standard input is closed"),
    ],
)
def test_closed_and_full_streams_end_with_a_message(command, code, message, tmp_path):
    found = shell(command, cwd=tmp_path)
    assert found.returncode == code, found.stderr
    assert message in found.stderr
    assert "Traceback" not in found.stderr
    assert "bug" not in found.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp949", "utf-16"])
def test_results_in_a_pipe_are_utf8_whatever_the_locale(encoding, model, tmp_path):
    (tmp_path / "t.txt").write_text("밥을 \U0001f35a\n", encoding="utf-8")
    command = [sys.executable, "-m", "elmo", "embed", "-", "-m", "model", "--layers", "top", "--quiet"]
    with (tmp_path / "t.txt").open("rb") as text:
        found = subprocess.run(
            command, stdin=text, capture_output=True, cwd=tmp_path, env=ENVIRONMENT | {"PYTHONIOENCODING": encoding}
        )
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout.decode("utf-8"))["tokens"] == ["밥을", "\U0001f35a"]


def test_vectors_are_made_with_every_stream_closed(model, tmp_path):
    (tmp_path / "t.txt").write_text("a b\n\nc\n")
    assert shell("elmo embed t.txt -o one.npy -m model", cwd=tmp_path).returncode == 0
    found = shell("elmo embed t.txt -o two.npy -m model <&- 2>&- >&-", cwd=tmp_path)
    assert found.returncode == 0
    assert (tmp_path / "two.npy").read_bytes() == (tmp_path / "one.npy").read_bytes()


def test_a_standard_input_that_outgrows_the_disk_is_named(model, tmp_path, monkeypatch, capsys):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("elmo.embed.corpus.vectors_folder.os.fsync", full)
    monkeypatch.setattr("sys.stdin", open(os.devnull))  # noqa: SIM115, PTH123 - closed by pytest
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("elmo.text.files.lines.limited_lines", lambda *_: iter([b"a\n"]))
        assert main(["embed", "-", "-o", str(tmp_path / "x.h5")]) == 2
    sys.stdin.close()
    assert "x.h5.partial/input.txt: can't be written: No space left" in capsys.readouterr().err
    assert not (tmp_path / "x.h5.partial").exists()
