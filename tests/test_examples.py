"""Every example runs as its first lines say, and says nothing on stderr but its progress."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(path: Path, tmp_path: Path) -> None:
    assert f"python examples/{path.name}" in path.read_text(encoding="utf-8").split('"""')[1]
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "error", f"examples/{path.name}"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_elmo_in_your_model_learns_and_shows_both_mixes() -> None:
    text = (ROOT / "examples" / "elmo_in_your_model.py").read_text(encoding="utf-8")
    assert "[x, below]" in text
    assert "[h, above]" in text


def test_the_task_of_ones_own_is_used_from_the_command_line(tmp_path, monkeypatch, capsys) -> None:
    """As the first lines of the example say, by its name; a saved model doesn't import it by itself."""
    import io

    from elmo.cli.main import main

    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "questions.txt").write_text("yes who ?\nno he .\n" * 10)
    monkeypatch.chdir(tmp_path)
    task = ["--task", "examples.your_own_task:TASK"]
    command = ["task", "train", task[1], "--train", "questions.txt", "-o", "asker", "--epochs", "3", "--quiet"]
    assert main(command) == 0
    assert main(["task", "evaluate", "asker", "questions.txt", "--json", *task]) == 0
    assert '"accuracy": 100.0' in capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"who ?\n")))
    assert main(["task", "predict", "asker", *task]) == 0
    assert capsys.readouterr().out == "yes who ?\n"
    assert main(["task", "predict", "asker"]) == 2
    assert "is a model of the task 'questions', which isn't installed" in capsys.readouterr().err
