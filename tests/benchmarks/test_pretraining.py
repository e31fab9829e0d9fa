"""Every benchmark of pretraining runs to its end at its smallest."""

from pathlib import Path

import pytest

from elmo.corpus.prepare import prepare

pytestmark = pytest.mark.slow
TINY_SHAPE = [
    *("--cell-size", "16", "--projection-size", "8", "--batch-size", "4", "--unroll-steps", "5", "--negatives", "20"),
    *("--peak-size", "32", "--rounds", "1", "--steps", "1"),
]


def test_training_runs_all_contestants(run, tmp_path: Path, text: Path) -> None:
    prepare([text], tmp_path / "data")
    flags = ["--data", str(tmp_path / "data"), *TINY_SHAPE]
    record = run("pretraining/training.py", *flags, codes=(0, 1))  # 1: a target was missed
    for contestant in ("ours, float32", "ours, bfloat16", "plain", "torch LSTM", "torch LSTM, words"):
        assert f"\n| {contestant} | " in record


def test_freed_memory_is_kept_or_given_back(run, tmp_path: Path, text: Path) -> None:
    prepare([text], tmp_path / "data")
    shape = ["--cell-size", "8", "--projection-size", "4", "--batch-size", "2", "--unroll-steps", "4"]
    flags = ["--data", str(tmp_path / "data"), "--rounds", "1", "--steps", "1", "--negatives", "9", *shape]
    record = run("pretraining/freed_memory.py", *flags)
    assert "\n| given back | " in record and "\n| kept | " in record
    assert "Kept memory makes a step" in record


def test_training_memory_prepares_and_trains(run, text: Path) -> None:
    flags = ["--text", str(text), "--megabytes", "0.1", "--steps", "2", "--workers", "1", "--vocab-size", "300"]
    record = run("pretraining/training_memory.py", *flags, codes=(0, 1))
    assert "elmo prepare --workers 1 | " in record and "elmo pretrain, 2 steps | " in record


def test_exactness_holds_for_a_few_shapes(run) -> None:
    flags = ["--shapes", "4", "--draws", "60", "--words", "100", "--largest", "32"]
    record = run("pretraining/exactness.py", *flags)
    assert "float32 is within 1e-05: yes" in record and "with all words: yes" in record
