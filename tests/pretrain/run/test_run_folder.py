"""Checkpoints on a disk that fails: whatever goes wrong while one is saved, the latest one is whole."""

import errno
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from elmo.corpus.shards import TrainingData
from elmo.disk import folder_lock
from elmo.disk.folder_lock import locked
from elmo.errors import ConfigError, OutputError, WeightFileError
from elmo.pretrain.run import saved_training
from elmo.pretrain.run.run_folder import RunFolder
from elmo.pretrain.run.training import train
from elmo.pretrain.settings.config import PretrainConfig
from elmo.pretrain.step.trainer import Trainer
from elmo.pretrain.step.trainer_state import tensors_of
from elmo.weights.native import tensor_file


@pytest.fixture
def run(data: TrainingData, recipe: PretrainConfig, tmp_path: Path) -> RunFolder:
    run = RunFolder(tmp_path / "run")
    run.begin(recipe, {})
    return run


@pytest.fixture
def trainer(data: TrainingData, recipe: PretrainConfig) -> Trainer:
    return Trainer(recipe, data)


def _same(one: Trainer, other: Trainer) -> bool:
    tensors = [{**tensors_of(trainer), **trainer.named_parameters} for trainer in (one, other)]
    equal = all((value == tensors[1][name]).all() for name, value in tensors[0].items())
    return equal and one.position.to_dict() == other.position.to_dict()


def _names(run: RunFolder) -> list[str]:
    return sorted(path.name for path in run.checkpoints.iterdir())


# What a save does to the disk, and how to make it fail.
OPERATIONS: dict[str, tuple[object, str]] = {
    "open": (os, "open"),
    "write weights": (tensor_file, "save_file"),
    "write training": (saved_training, "save_file"),
    "write text": (Path, "write_text"),
    "write sums": (Path, "write_bytes"),
    "mkdir": (Path, "mkdir"),
    "fsync": (os, "fsync"),
    "rename": (Path, "rename"),
    "replace": (Path, "replace"),
}


def _counted(original: Callable, calls: list[str], fail_at: int) -> Callable:
    def operation(*arguments, **settings):
        calls.append(str(arguments[0]))
        if len(calls) == fail_at:
            raise OSError(errno.EIO, "the disk says no", str(arguments[0]))
        return original(*arguments, **settings)

    return operation


@pytest.mark.parametrize("name", OPERATIONS)
def test_whatever_fails_while_saving_the_latest_checkpoint_is_whole(data, recipe, run, trainer, monkeypatch, name):
    trainer.step()
    run.save(trainer, keep=2)
    owner, attribute = OPERATIONS[name]
    original = getattr(owner, attribute)
    restored, failures = Trainer(recipe, data), 0
    while True:
        trainer.step()
        calls: list[str] = []
        with monkeypatch.context() as patch:
            patch.setattr(owner, attribute, _counted(original, calls, failures + 1))
            try:
                run.save(trainer, keep=2)
                break  # every call was made to fail once
            except OutputError as error:
                assert "the disk says no" in str(error)
        failures += 1
        again = RunFolder(run.path)
        again.restore(restored)
        assert restored.step_number in (trainer.step_number, trainer.step_number - 1)
        if restored.step_number == trainer.step_number:  # it failed after the checkpoint had its name
            assert _same(restored, trainer)
        run.save(trainer, keep=2)
        again.restore(restored)
        assert _same(restored, trainer)
    assert failures >= 1
    with RunFolder(run.path).held():
        pass
    assert not [entry for entry in _names(run) if entry.startswith(".")]


@contextmanager
def small_files(size: int) -> Iterator[None]:
    """Files can't grow beyond so many bytes, as on a full disk; no privileges needed, but Unix.

    Only inside the block: pytest's own output may be a file too.
    """
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("size", [16, 300, 1000, 3000, 6000])
def test_a_write_that_does_not_fit_leaves_the_last_checkpoint_and_says_what_is_needed(data, recipe, run, trainer, size):
    trainer.step()
    first = run.save(trainer, keep=2)
    kept = Trainer(recipe, data)
    run.restore(kept)
    trainer.step()
    message = r"step-00000002.*bytes are needed, \d+ are free"
    with pytest.raises(OutputError, match=message), small_files(size):
        run.save(trainer, keep=2)
    assert run.latest == first
    assert _names(run) == ["latest", first.name]
    again = Trainer(recipe, data)
    run.restore(again)
    assert _same(again, kept)


def test_too_little_space_is_found_before_anything_is_written(run, trainer, monkeypatch):
    usage = type("Usage", (), {"free": 1000})
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    with pytest.raises(OutputError, match=r"step-00000000: not enough disk space\. \d+ bytes are needed, 1000"):
        run.save(trainer, keep=2)
    assert _names(run) == []


def test_metrics_that_can_not_be_written_are_an_error_with_the_bytes(run, trainer):
    run.save(trainer, keep=2)
    message = r"metrics.jsonl: can't be written: .*step-00000000.*Free some space"
    with pytest.raises(OutputError, match=message), small_files(10):
        run.record(step=1, loss=0.123456789)


def test_the_best_checkpoint_and_the_latest_are_never_removed(run, trainer):
    trainer.step()
    best = run.save(trainer, keep=2, is_best=True)
    for _ in range(4):
        trainer.step()
        run.save(trainer, keep=2)
    assert run.best == best
    assert _names(run) == ["best", "latest", "step-00000001", "step-00000004", "step-00000005"]
    trainer.step_number = 3  # somebody went back to an earlier checkpoint
    run.save(trainer, keep=1)
    assert run.latest is not None
    assert run.latest.name == "step-00000003"
    assert _names(run) == ["best", "latest", "step-00000001", "step-00000003", "step-00000005"]


def test_what_a_killed_process_left_is_cleared(data, recipe, run, trainer):
    trainer.step()
    folder = run.save(trainer, keep=2)
    (run.checkpoints / ".step-00000002.0123456789ab.old").mkdir()
    (run.checkpoints / ".step-00000002.0123456789ab.unfinished").mkdir()
    (run.checkpoints / ".latest.0123456789ab.unfinished").write_text("step")
    (run.path / "metrics.jsonl").write_text('{"step": 1, "loss": 2.0}\n{"step": 2, "loss": 1.0}\n{"step": 3, "lo')
    again = RunFolder(run.path)
    with again.held():
        assert _names(again) == ["latest", folder.name]
    restored = Trainer(recipe, data)
    again.restore(restored)
    assert _same(restored, trainer)
    assert again.metrics() == [{"step": 1, "loss": 2.0}]


def test_killed_before_its_pointer_the_first_checkpoint_counts(run, trainer):
    trainer.step()
    folder = run.save(trainer, keep=2)
    (run.checkpoints / "latest").unlink()
    assert run.latest == folder


def test_a_run_killed_before_its_recipe_was_written_can_be_started_again(recipe, tmp_path):
    (tmp_path / "begun").mkdir()
    (tmp_path / "begun" / "env.json").write_text("{}")
    (tmp_path / "begun" / ".config.json.0123456789ab.unfinished").write_text("{")
    run = RunFolder(tmp_path / "begun")
    run.begin(recipe, {})
    assert run.config() == recipe


def test_weights_that_are_no_numbers_are_not_saved(run, trainer):
    good = run.save(trainer, keep=2)
    trainer.step()
    trainer.head.bias.data[0] = float("nan")
    with pytest.raises(WeightFileError, match="has the value nan"):
        run.save(trainer, keep=2)
    assert run.latest == good


def _flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) * 3 // 4] ^= 1  # of a safetensors file: in the values
    path.write_bytes(content)


def _replaced_by_a_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("change", [_flipped, _replaced_by_a_fifo, Path.unlink])
@pytest.mark.parametrize("name", ["training.safetensors", "progress.json", "model/softmax.safetensors", "sha256.json"])
def test_a_checkpoint_that_was_changed_is_not_gone_on_from(data, recipe, run, trainer, name, change):
    trainer.step()
    change(run.save(trainer, keep=1) / name)
    with pytest.raises(WeightFileError, match="the checkpoint is damaged .* Remove it"):
        run.restore(Trainer(recipe, data))


def test_a_checkpoint_of_another_model_is_refused(data, recipe, run, trainer):
    run.save(trainer, keep=2)
    trainer.head.vocabulary = [*trainer.head.vocabulary[:-1], "other"]
    with pytest.raises(ConfigError, match=r"vocabulary is .*, but the checkpoint .* was trained with"):
        run.restore(trainer)


def test_the_log_has_times_and_facts_are_whole(run):
    run.log("something happened")
    line = (run.path / "log.txt").read_text(encoding="utf-8")
    assert line.endswith(" something happened\n")
    assert line[:2] == "20"
    run.write_json("facts.json", {"a": "밥"})
    assert json.loads((run.path / "facts.json").read_text(encoding="utf-8")) == {"a": "밥"}


@pytest.mark.skipif(folder_lock.fcntl is None, reason="needs file locks")
def test_a_run_under_way_is_left_alone(tmp_path, recipe, data, monkeypatch):
    monkeypatch.setattr(folder_lock, "SECONDS", 0.0)
    run = RunFolder(tmp_path / "run")
    run.begin(recipe, {})
    (run.path / ".config.json.0123456789ab.unfinished").write_text("")  # being written
    with locked(run.path, "run"):
        with pytest.raises(OutputError, match="another 'elmo pretrain' or 'elmo finetune' is at work there"):
            train(data, run.path)
        assert ".config.json.0123456789ab.unfinished" in {entry.name for entry in run.path.iterdir()}
