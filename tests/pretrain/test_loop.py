"""Whole runs: what they leave on disk, and that a stopped run ends like one that was never stopped."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from elmo.errors import ConfigError, Interrupted, OutputError
from elmo.pretrain import loop
from elmo.pretrain.config import PretrainConfig
from elmo.pretrain.loop import pretrain, resume
from elmo.pretrain.run_folder import RunFolder
from elmo.pretrain.shards import TrainingData
from elmo.pretrain.trainer import Trainer, TrainingDiverged
from elmo.weights.checkpoint import read


def _metrics(run: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    return [{key: value for key, value in line.items() if key != "tokens_per_second"} for line in lines]


def test_a_run_leaves_metrics_checkpoints_and_a_model(
    data: TrainingData, recipe: PretrainConfig, tmp_path: Path
) -> None:
    model = pretrain(recipe, data, tmp_path / "run", quiet=True)
    steps = [line for line in _metrics(tmp_path / "run") if "loss" in line]
    assert [line["step"] for line in steps] == list(range(1, len(steps) + 1))
    assert {"step", "epoch", "loss"} <= set(steps[0])
    checkpoint = read(model)
    assert checkpoint.vocabulary == list(data.vocabulary.words)
    assert checkpoint.softmax is not None
    assert "valid_mean_perplexity" in checkpoint.metadata
    saved = sorted(path.name for path in (tmp_path / "run" / "checkpoints").glob("step-*"))
    assert len(saved) == recipe.keep_checkpoints
    assert RunFolder(tmp_path / "run").config() == recipe


def test_a_run_stopped_by_a_signal_goes_on_bit_for_bit(
    data: TrainingData, recipe: PretrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretrain(recipe, data, tmp_path / "whole", quiet=True)
    plain_step = Trainer.step

    def stopping_step(trainer: Trainer):  # noqa: ANN202
        if trainer.step_number == 4:
            os.kill(os.getpid(), signal.SIGTERM)
        return plain_step(trainer)

    monkeypatch.setattr(Trainer, "step", stopping_step)
    with pytest.raises(Interrupted, match="stopped at step 5 .*--resume"):
        pretrain(recipe, data, tmp_path / "stopped", quiet=True)
    monkeypatch.setattr(Trainer, "step", plain_step)
    resume(data, tmp_path / "stopped", quiet=True)
    assert _metrics(tmp_path / "stopped") == _metrics(tmp_path / "whole")
    one, other = read(tmp_path / "whole" / "model"), read(tmp_path / "stopped" / "model")
    assert all((one.tensors[name] == other.tensors[name]).all() for name in one.tensors)


def test_a_killed_run_goes_on_bit_for_bit(data: TrainingData, recipe: PretrainConfig, tmp_path: Path) -> None:
    pretrain(recipe, data, tmp_path / "whole", quiet=True)
    script = (
        "import sys; from pathlib import Path; from elmo.pretrain.loop import pretrain;"
        "from elmo.pretrain.run_folder import RunFolder; from elmo.pretrain.shards import TrainingData;"
        "run = RunFolder(Path(sys.argv[1]));"
        "pretrain(run.config(), TrainingData.open(sys.argv[2]), Path(sys.argv[3]), quiet=True)"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "whole"), str(data.folder), str(tmp_path / "killed")]
    process = subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"})
    metrics = tmp_path / "killed" / "metrics.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (metrics.is_file() and metrics.read_bytes().count(b"\n") >= 3):
        time.sleep(0.001)
    process.kill()
    process.wait()
    resume(data, tmp_path / "killed", quiet=True)
    assert _metrics(tmp_path / "killed") == _metrics(tmp_path / "whole")


def test_an_existing_run_is_not_overwritten_and_a_missing_one_not_resumed(
    data: TrainingData, recipe: PretrainConfig, tmp_path: Path
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match="exists already and is not empty"):
        pretrain(recipe, data, tmp_path / "run", quiet=True)
    with pytest.raises(ConfigError, match="there is no run to resume"):
        resume(data, tmp_path / "elsewhere", quiet=True)


def test_a_loss_that_is_no_number_stops_the_run_and_keeps_the_checkpoint(
    data: TrainingData, recipe: PretrainConfig, tmp_path: Path
) -> None:
    with pytest.raises(TrainingDiverged, match="step .*no numbers any more"):
        pretrain(replace(recipe, learning_rate=1e30, epochs=30), data, tmp_path / "run", quiet=True)
    latest = RunFolder(tmp_path / "run").latest
    assert latest is None or read(latest / "model").config.cell_size == recipe.cell_size


def test_validation_sentences_are_spread_over_the_text(data: TrainingData) -> None:
    everything = list(loop.validation_sentences(data, 0))
    assert everything == [["the", "cat", "sat"], ["the", "zebra", "went", "to", "the", "bank"]]
    assert list(loop.validation_sentences(data, 1)) == everything[:1]
