"""Every benchmark of the tasks' models and tables runs to its end at its smallest."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.slow


def test_dropout_stands_beside_torchs_and_the_memory(run) -> None:
    record = run("tasks/dropout.py", "--rounds", "1")
    assert "\n| 32 x 20 x 256 | " in record and "GB/s" in record
    assert "of the time of torch.nn.Dropout" in record


def test_verdicts_has_a_line_for_every_kind_of_equal_systems(run) -> None:
    record = run("tasks/verdicts.py", "--tables", "2", "--draws", "20", codes=(0, 1))
    assert record.count("\n| accuracy, ") == 8 and record.count("\n| F1, ") == 2
    assert "Tables in which 'ELMo beats the baseline' agrees" in record


def test_idle_threads_are_compared_beside_no_and_one_busy_process(run) -> None:
    record = run("tasks/idle_threads.py", "--rounds", "1", "--sentences", "20", "--epochs", "1", "--busy", "0", "1")
    assert "\n| 0 | spin | " in record and "\n| 1 | sleep | " in record and "\n| 1 | one thread | " in record
    assert "times beside 1 busy processes" in record


def test_a_step_of_a_task_is_measured_without_and_with_elmo(run, tmp_path) -> None:
    trees = tmp_path / "trees.txt"
    trees.write_text("(3 (2 It) (4 (2 's) (3 good)))\n(1 (2 Not) (1 (2 so) (1 (1 bad) (2 .))))\n" * 8, encoding="utf-8")
    flags = ["--train", str(trees), "--dev", str(trees), "--model", "small", "--steps", "1", "--scored", "2"]
    record = run("tasks/task_steps.py", str(ROOT / "configs" / "tasks" / "sst.toml"), *flags, "--set", "batch_size=2")
    assert "\n| baseline | " in record and "\n| + ELMo | " in record
