"""Whole runs: what they leave on disk, and that a stopped run ends like one that was never stopped."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from elmo.corpus.prepare import prepare
from elmo.corpus.settings import CorpusSettings
from elmo.corpus.shards import TrainingData
from elmo.errors import ConfigError, Interrupted, MissingExtraError, OutputError, WeightFileError
from elmo.lm.language_model import EngineLanguageModel
from elmo.lm.perplexity import evaluate
from elmo.pretrain.run import loop, saved_training
from elmo.pretrain.run.held_out import validation_sentences
from elmo.pretrain.run.run_folder import RunFolder
from elmo.pretrain.run.saved_training import restore_from
from elmo.pretrain.run.training import train
from elmo.pretrain.step.trainer import Trainer, TrainingDiverged
from elmo.pretrain.step.trainer_state import tensors_of
from elmo.process.stop_flag import StopRequested, stop_flag
from elmo.setting_checks import LARGEST_COUNT
from elmo.weights.native.read import read


def _metrics(run: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    return [{key: value for key, value in line.items() if key != "tokens_per_second"} for line in lines]


def test_a_run_leaves_metrics_checkpoints_and_a_model_and_prints_nothing(data, recipe, tmp_path, capsys):
    model = train(data, tmp_path / "run", recipe).model
    assert capsys.readouterr() == ("", "")
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


def test_a_run_does_not_go_on_with_other_text_of_the_same_words_or_other_shards(data, recipe, tmp_path):
    train(data, tmp_path / "run", replace(recipe, max_steps=2))
    text = tmp_path / "other.txt"
    text.write_text("the cat sat on the mat\n" * 60, encoding="utf-8")
    limit = data.max_characters_per_token
    settings = CorpusSettings(vocabulary=str(data.folder / "vocab.txt"), max_characters_per_token=limit)
    prepare([text], tmp_path / "other", settings, valid=[text])
    with pytest.raises(ConfigError, match=r"run: the run was started on data whose texts were"):
        train(TrainingData.open(tmp_path / "other"), tmp_path / "run", replace(recipe, max_steps=4))
    prepare(
        [tmp_path / "train.txt"], tmp_path / "cut", CorpusSettings(tokens_per_shard=22), valid=[tmp_path / "valid.txt"]
    )
    with pytest.raises(ConfigError, match=r"tokens_per_shard were 20, now they are 22"):
        train(TrainingData.open(tmp_path / "cut"), tmp_path / "run", replace(recipe, max_steps=4))
    moved = shutil.copytree(data.folder, tmp_path / "moved")
    train(TrainingData.open(moved), tmp_path / "run", replace(recipe, max_steps=4))


def test_what_a_checkpoint_does_not_fit_can_not_be_changed(data, recipe, tmp_path):
    words = replace(recipe, characters="none", tie_softmax=True, max_steps=2)
    train(data, tmp_path / "run", words)
    for change in ({"tie_softmax": False}, {"seed": 7}, {"batch_size": 4}, {"optimizer": "adamw"}):
        (name, value), before = next(iter(change.items())), (tmp_path / "run" / "config.json").read_bytes()
        with pytest.raises(ConfigError, match=f"{name} is {value!r}, but the checkpoint .* was trained with"):
            train(data, tmp_path / "run", replace(words, max_steps=4, **change))
        assert (tmp_path / "run" / "config.json").read_bytes() == before
    train(data, tmp_path / "run", replace(words, max_steps=4))


def test_a_run_stopped_by_a_signal_goes_on_bit_for_bit(data, recipe, tmp_path, monkeypatch):
    train(data, tmp_path / "whole", recipe)
    plain_step = Trainer.step

    def stopping_step(trainer: Trainer, *arguments):
        if trainer.step_number == 4:
            os.kill(os.getpid(), signal.SIGTERM)
        return plain_step(trainer, *arguments)

    monkeypatch.setattr(Trainer, "step", stopping_step)
    with pytest.raises(Interrupted, match="stopped at step 5 .*--resume"):
        train(data, tmp_path / "stopped", recipe)
    monkeypatch.setattr(Trainer, "step", plain_step)
    train(data, tmp_path / "stopped")
    assert _metrics(tmp_path / "stopped") == _metrics(tmp_path / "whole")
    one, other = read(tmp_path / "whole" / "model"), read(tmp_path / "stopped" / "model")
    assert all((one.tensors[name] == other.tensors[name]).all() for name in one.tensors)


KINDS: dict[str, dict[str, Any]] = {
    "full, forward": {"softmax": "full", "direction": "forward"},
    "adaptive": {"softmax": "adaptive", "softmax_cutoffs": (8, 15)},
    "tied words": {"characters": "none", "tie_softmax": True},
    "dictionary, backward": {"characters": "dictionary", "direction": "backward"},
    "lazy adamw": {"optimizer": "adamw", "learning_rate": 0.01, "lazy_rows": True},
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_resumed_run_of_every_kind_ends_like_a_whole_one(data, recipe, tmp_path, kind):
    config = replace(recipe, **KINDS[kind], max_steps=4)
    whole = read(train(data, tmp_path / "whole", config).model)
    train(data, tmp_path / "run", replace(config, max_steps=2))
    again = read(train(data, tmp_path / "run", config).model)
    assert again.token_map == whole.token_map
    for one, other in ((again.tensors, whole.tensors), (again.softmax, whole.softmax)):
        assert one.keys() == other.keys()
        assert all((one[name] == other[name]).all() for name in one)


@pytest.mark.slow
def test_a_killed_run_goes_on_bit_for_bit(data, recipe, tmp_path):
    train(data, tmp_path / "whole", recipe)
    script = (
        "import sys, time; from pathlib import Path; from elmo.pretrain.run.training import train;"
        "from elmo.pretrain.run.run_folder import RunFolder; from elmo.corpus.shards import TrainingData;"
        "from elmo.pretrain.step.trainer import Trainer;"
        "plain = Trainer.step;"
        # The fifth step never comes: however fast the machine is, the run is killed in the middle.
        "Trainer.step = lambda trainer, *rest: plain(trainer, *rest) if trainer.step_number < 4 else time.sleep(600);"
        "run = RunFolder(Path(sys.argv[1]));"
        "train(TrainingData.open(sys.argv[2]), Path(sys.argv[3]), run.config())"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "whole"), str(data.folder), str(tmp_path / "killed")]
    process = subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"})
    run = RunFolder(tmp_path / "killed")
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None and len(run.metrics()) < 4:
        time.sleep(0.005)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert not (run.path / "model").exists()
    train(data, tmp_path / "killed")
    assert _metrics(tmp_path / "killed") == _metrics(tmp_path / "whole")


def test_settings_given_when_resuming_stay_for_later_resumptions(data, recipe, tmp_path):
    first = replace(recipe, max_steps=4, learning_rate=0.1)
    train(data, tmp_path / "run", first)
    run = RunFolder(tmp_path / "run")
    second = replace(first, max_steps=8, learning_rate=0.01)
    train(data, run.path, replace(second, max_steps=6))
    train(data, run.path, second)
    assert run.config() == second
    train(data, run.path)  # another hop, with nothing given
    rates = {line["step"]: line["learning_rate"] for line in run.metrics() if "loss" in line}
    assert rates == {step: 0.1 if step <= 4 else 0.01 for step in range(1, 9)}
    history = {path.name: json.loads(path.read_text()) for path in sorted(run.path.glob("config.step-*.json"))}
    assert list(history) == ["config.step-00000004.json", "config.step-00000006.json"]
    assert [(one["max_steps"], one["learning_rate"]) for one in history.values()] == [(4, 0.1), (6, 0.01)]
    changes = [(line["step"], line["settings"]) for line in run.metrics() if "settings" in line]
    assert changes[0] == (4, {"learning_rate": {"before": 0.1, "now": 0.01}, "max_steps": {"before": 4, "now": 6}})
    assert changes[1] == (6, {"max_steps": {"before": 6, "now": 8}})
    assert "settings changed at step 4: " in (run.path / "log.txt").read_text(encoding="utf-8")


def test_settings_given_when_resuming_survive_a_kill_before_the_next_checkpoint(data, recipe, tmp_path, monkeypatch):
    train(data, tmp_path / "run", replace(recipe, max_steps=4))
    plain = Trainer.step

    def killed(trainer: Trainer, *arguments):
        if trainer.step_number == 5:
            raise KeyboardInterrupt
        return plain(trainer, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "step", killed)
        for rate in (0.02, 0.03):
            with pytest.raises(KeyboardInterrupt):
                changed = replace(recipe, max_steps=8, learning_rate=rate, save_every=4)
                train(data, tmp_path / "run", changed)
    train(data, tmp_path / "run")
    run = RunFolder(tmp_path / "run")
    rates = {line["step"]: line["learning_rate"] for line in run.metrics() if "loss" in line}
    assert rates == {step: recipe.learning_rate if step <= 4 else 0.03 for step in range(1, 9)}
    history = json.loads((run.path / "config.step-00000004.json").read_text())
    assert history["learning_rate"] == recipe.learning_rate  # not that of the attempt that came to nothing


@pytest.mark.parametrize("warmup", [0, 3])
def test_another_unroll_keeps_epoch_and_schedule(data, recipe, tmp_path, warmup):
    config = replace(recipe, decay="linear", warmup_steps=warmup, evaluate_every=0, save_every=1, keep_checkpoints=100)
    train(data, tmp_path / "whole", config)
    train(data, tmp_path / "run", replace(config, max_steps=4))
    run = RunFolder(tmp_path / "run")
    finer = replace(config, unroll_steps=2)
    train(data, run.path, replace(finer, max_steps=4))
    train(data, run.path, finer)
    whole, found = ([line for line in _metrics(tmp_path / name) if "loss" in line] for name in ("whole", "run"))
    by_tokens = {line["tokens_read"]: line for line in found}
    assert all(line["epoch"] == by_tokens[line["tokens_read"]]["epoch"] for line in whole[:-1])
    assert [line["tokens_read"] for line in found[:4]] == [12, 24, 36, 48]
    assert [line["tokens_read"] for line in found[4:8]] == [54, 60, 66, 72]
    total = Trainer(config, data).tokens_per_epoch * config.epochs
    assert total <= found[-1]["tokens_read"] < total + 6
    # The same point of the text, the same rate, but for half a window more or less.
    slope = config.learning_rate * 12 / (total - 12 * warmup)
    for line in whole[4:-1]:
        assert by_tokens[line["tokens_read"]]["learning_rate"] == pytest.approx(line["learning_rate"], abs=slope)
    rates = [line["learning_rate"] for line in found[4:]]  # the recipe before had another last step
    assert rates == sorted(rates, reverse=True)
    assert 0 < rates[-1] < slope


@pytest.mark.parametrize("name", ["progress.json", "training.safetensors"])
def test_a_damaged_checkpoint_is_named_and_the_one_before_continues(data, recipe, tmp_path, name):
    train(data, tmp_path / "run", replace(recipe, max_steps=4))
    train(data, tmp_path / "whole", recipe)
    run = RunFolder(tmp_path / "run")
    damaged = run.latest
    (damaged / name).write_bytes((damaged / name).read_bytes()[:40])
    with pytest.raises(WeightFileError, match=f"{damaged.name}.*damaged"):
        train(data, run.path, recipe)
    shutil.rmtree(damaged)
    train(data, run.path, recipe)
    plain = [[line for line in _metrics(tmp_path / one) if "settings" not in line] for one in ("run", "whole")]
    assert plain[0] == plain[1]


@pytest.mark.parametrize("settings", [{"filters": ((1, 10**20),)}, {"num_negative_samples": LARGEST_COUNT}])
def test_settings_that_no_model_can_have_are_refused_before_anything_is_written(data, recipe, tmp_path, settings):
    with pytest.raises(ConfigError, match="(num_negative_samples|filters) must be"):
        train(data, tmp_path / "run", replace(recipe, **settings))
    assert not (tmp_path / "run").exists()


def test_counts_may_be_as_large_as_any_setting(data, recipe, tmp_path):
    names = ("max_steps", "warmup_steps", "log_every", "save_every", "keep_checkpoints")
    train(data, tmp_path / "run", replace(recipe, epochs=1, **dict.fromkeys(names, LARGEST_COUNT)))


def test_an_existing_run_is_not_overwritten_and_a_missing_one_not_resumed(data, recipe, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match="exists already and is not empty"):
        train(data, tmp_path / "run", recipe)
    with pytest.raises(ConfigError, match="there is no run to resume"):
        train(data, tmp_path / "elsewhere")


def test_a_run_reports_its_steps_and_evaluations(tmp_path, recipe, data, recorded_progress):
    model = train(data, tmp_path / "run", replace(recipe, max_steps=4), progress=recorded_progress).model
    recorded_progress.require({"training": "steps"} | {"evaluating on valid": "sentences"})
    assert [done for done, _ in recorded_progress.stages["training"]] == [0, 1, 2, 3, 4]
    assert recorded_progress.lines[0].startswith("started: 4 steps")
    assert any(line.startswith("step 4: validation perplexity") for line in recorded_progress.lines)
    assert recorded_progress.lines[-1] == f"finished at step 4: {model}"
    assert any("epoch 0." in note and "tokens/s" in note for note in recorded_progress.notes)
    resumed = type(recorded_progress)()
    train(data, tmp_path / "run", replace(recipe, max_steps=6), progress=resumed)
    assert [done for done, _ in resumed.stages["training"]] == [4, 5, 6]


def test_a_run_that_ends_early_reaches_the_total_that_it_came_to(tmp_path, recipe, data, recorded_progress):
    impatient = replace(recipe, evaluate_every=1, patience=1, learning_rate=1e-9, epochs=30)
    train(data, tmp_path / "run", impatient, progress=recorded_progress)
    done, total = recorded_progress.stages["training"][-1]
    assert done == total < recorded_progress.stages["training"][0][1]


def test_validation_sentences_are_spread_over_the_text(data):
    everything = list(validation_sentences(data, 0))
    assert everything == [["the", "cat", "sat"], ["the", "zebra", "went", "to", "the", "bank"]]
    assert list(validation_sentences(data, 1)) == everything[:1]


def test_a_run_out_of_patience_ends_with_its_best_model(data, recipe, tmp_path):
    impatient = replace(recipe, patience=2, evaluate_every=3, epochs=500, learning_rate=0.5)
    model = read(train(data, tmp_path / "run", impatient).model)
    found = {line["step"]: line["mean_perplexity"] for line in _metrics(tmp_path / "run") if "evaluation" in line}
    *before, last_but_one, last = [found[step] for step in sorted(found)]
    assert min(before) <= min(last_but_one, last)
    assert all(min(found[step - 3], found[step]) < min(found[at] for at in found if at < step - 3)
               for step in sorted(found)[2:-1])  # fmt: skip
    best = read(RunFolder(tmp_path / "run").best / "model")
    assert all(np.array_equal(model.tensors[name], best.tensors[name]) for name in best.tensors)
    assert float(model.metadata["valid_mean_perplexity"]) == pytest.approx(min(before), rel=1e-3)
    step = RunFolder(tmp_path / "run").best_step
    (place,) = (line for line in _metrics(tmp_path / "run") if line["step"] == step and "evaluation" in line)
    assert model.metadata["tokens_read"] == str(place["tokens_read"]) == str(step * 12)
    assert float(model.metadata["epochs"]) == pytest.approx(place["epoch"], abs=1e-3)
    lines = _metrics(tmp_path / "run")
    again = read(train(data, tmp_path / "run").model)
    assert _metrics(tmp_path / "run") == lines
    assert all(np.array_equal(again.tensors[name], best.tensors[name]) for name in best.tensors)


def test_patience_given_when_resuming_waits_for_a_model_that_is_kept(data, recipe, tmp_path):
    rising = replace(recipe, evaluate_every=2, learning_rate=5.0, keep_best=False, max_steps=12, epochs=500)
    train(data, tmp_path / "run", rising)
    model = read(train(data, tmp_path / "run", replace(rising, keep_best=True, patience=1, max_steps=200)).model)
    found = {line["step"]: line["mean_perplexity"] for line in _metrics(tmp_path / "run") if "evaluation" in line}
    run = RunFolder(tmp_path / "run")
    assert run.best_step >= 12  # nothing was kept before
    assert float(model.metadata["valid_mean_perplexity"]) == pytest.approx(found[run.best_step], rel=1e-3)
    assert np.array_equal(model.softmax["bias"], read(run.best / "model").softmax["bias"])
    assert f"is that of step {run.best_step}." in (tmp_path / "run" / "log.txt").read_text(encoding="utf-8")


def test_the_evaluation_at_the_end_of_a_run_that_goes_on_keeps_no_model_from_being_the_best(data, recipe, tmp_path):
    falling = replace(recipe, evaluate_every=4, max_steps=6, epochs=500, patience=1)
    train(data, tmp_path / "run", falling)
    log = tmp_path / "run" / "metrics.jsonl"
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    found = {line["step"]: line for line in lines if "evaluation" in line}
    assert (list(found), RunFolder(tmp_path / "run").best_step) == ([4, 6], 4)
    found[6]["mean_perplexity"] = 1.5  # lower than what follows
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    train(data, tmp_path / "run", replace(falling, max_steps=8))
    assert [line["step"] for line in _metrics(tmp_path / "run") if "evaluation" in line] == [4, 6, 8]
    assert RunFolder(tmp_path / "run").best_step == 8


def test_a_perplexity_beyond_every_float_does_not_end_a_run(data, recipe, tmp_path):
    wild = replace(recipe, evaluate_every=2, learning_rate=1e4, clip_norm=1e9, max_steps=6)
    model = read(train(data, tmp_path / "run", wild).model)
    assert model.metadata["valid_mean_perplexity"] == "inf"
    found = [line["mean_perplexity"] for line in _metrics(tmp_path / "run") if "evaluation" in line]
    assert found[0] == float("inf")
    assert RunFolder(tmp_path / "run").best_step == 2


def test_patience_keeps_the_best_and_waits_for_nothing_without_a_validation_text(data, recipe, tmp_path):
    train(data, tmp_path / "run", replace(recipe, patience=2, keep_best=False, evaluate_every=2, max_steps=2))
    assert RunFolder(tmp_path / "run").best_step == 2
    text = tmp_path / "text.txt"
    text.write_text("a b c\n", encoding="utf-8")
    prepare([text], tmp_path / "no-valid")
    train(TrainingData.open(tmp_path / "no-valid"), tmp_path / "whole", replace(recipe, patience=2, max_steps=1))
    assert (tmp_path / "whole" / "model").is_dir()


def test_a_signal_during_an_evaluation_saves_and_the_evaluation_is_made_up_for(data, recipe, tmp_path, monkeypatch):
    train(data, tmp_path / "whole", recipe)
    steps = [line["step"] for line in _metrics(tmp_path / "whole") if "evaluation" in line]
    plain = loop.evaluate_together
    for name, at in (("regular", steps[0]), ("last", steps[-1])):
        due = iter(steps)

        def stopping(*arguments, at=at, due=due, **settings):
            if next(due) == at:
                os.kill(os.getpid(), signal.SIGTERM)
            return plain(*arguments, **settings)

        with monkeypatch.context() as patch:
            patch.setattr(loop, "evaluate_together", stopping)
            with pytest.raises(Interrupted, match=f"stopped at step {at} "):
                train(data, tmp_path / name, recipe)
        train(data, tmp_path / name)
        assert _metrics(tmp_path / name) == _metrics(tmp_path / "whole")


def test_resuming_a_finished_run_computes_nothing_anew(data, recipe, tmp_path, monkeypatch):
    model = train(data, tmp_path / "run", replace(recipe, max_steps=2)).model
    before = _metrics(tmp_path / "run")
    monkeypatch.setattr(loop, "evaluate_together", None)
    assert train(data, tmp_path / "run").model == model
    assert _metrics(tmp_path / "run") == before


def test_a_finished_run_without_its_checkpoints_does_not_begin_anew(data, recipe, tmp_path):
    model = train(data, tmp_path / "run", replace(recipe, max_steps=2)).model
    shutil.rmtree(tmp_path / "run" / "checkpoints")
    before = read(model).metadata, _metrics(tmp_path / "run")
    with pytest.raises(ConfigError, match="checkpoints are gone.*elmo finetune --model"):
        train(data, tmp_path / "run", replace(recipe, max_steps=4))
    assert (read(model).metadata, _metrics(tmp_path / "run")) == before


def test_a_second_signal_ends_at_once():
    with stop_flag() as flag:
        flag.check()
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(StopRequested):
            flag.check()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_a_second_signal_while_saving_leaves_the_last_checkpoint(data, recipe, tmp_path, monkeypatch):
    plain_step, plain_write = Trainer.step, saved_training.write_checkpoint

    def stopping_step(trainer: Trainer, *arguments):
        if trainer.step_number == 4:
            os.kill(os.getpid(), signal.SIGINT)
        return plain_step(trainer, *arguments)

    def slow_write(model, folder, **settings):
        plain_write(model, folder, **settings)
        if "step-00000005" in str(folder):
            os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "step", stopping_step)
        patch.setattr(saved_training, "write_checkpoint", slow_write)
        with pytest.raises(KeyboardInterrupt):
            train(data, tmp_path / "run", recipe)
    assert RunFolder(tmp_path / "run").latest.name == "step-00000004"
    train(data, tmp_path / "whole", recipe)
    train(data, tmp_path / "run")
    assert _metrics(tmp_path / "run") == _metrics(tmp_path / "whole")


def _poisoned(monkeypatch: pytest.MonkeyPatch, steps: set[int], where: str) -> None:
    """Makes a loss, a gradient or the state of row 1 infinite in some steps."""
    plain = Trainer._learn

    def poisoned(trainer: Trainer, vectors, direction, window):
        bad = trainer.step_number + 1 in steps and direction == "backward"
        result = plain(trainer, vectors, direction, window)
        if bad and where == "gradient":
            result = replace(result, vectors_gradient=result.vectors_gradient * float("inf"))
        if bad and where == "loss":
            result = replace(result, loss=torch.tensor(float("nan")))
        return result

    monkeypatch.setattr(Trainer, "_learn", poisoned)


@pytest.mark.parametrize("where", ["loss", "gradient"])
def test_no_number_stops_with_the_state_before_saved(data, recipe, tmp_path, monkeypatch, where):
    good = Trainer(recipe, data)
    for _ in range(4):
        good.step()
    _poisoned(monkeypatch, {5}, where)
    with pytest.raises(TrainingDiverged, match="step 5: .*step-00000004-before-nan.*Resume with a lower") as error:
        train(data, tmp_path / "run", replace(recipe, save_every=3))
    assert "--on-nan skip" in str(error.value)
    run = RunFolder(tmp_path / "run")
    assert run.latest.name == ("step-00000004" if run.best == run.latest else "step-00000003")
    restored = Trainer(recipe, data)
    restore_from(run.checkpoints / "step-00000004-before-nan", restored, recipe)
    assert restored.position.to_dict() == good.position.to_dict()
    assert all((value == tensors_of(good)[name]).all() for name, value in tensors_of(restored).items())
    assert str(error.value) in (run.path / "log.txt").read_text(encoding="utf-8")


def test_skipped_steps_leave_the_weights_and_are_counted(data, recipe, tmp_path, monkeypatch):
    _poisoned(monkeypatch, {3, 4}, "gradient")
    config = replace(recipe, on_nan="skip", max_skipped_steps=2, save_every=1, keep_checkpoints=100)
    train(data, tmp_path / "run", config)
    skipped = [line["step"] for line in _metrics(tmp_path / "run") if "skipped" in line]
    assert skipped == [3, 4]
    steps = [line["step"] for line in _metrics(tmp_path / "run") if "loss" in line or "skipped" in line]
    assert steps == list(range(1, steps[-1] + 1))
    checkpoints = RunFolder(tmp_path / "run").checkpoints
    two, four = (read(checkpoints / f"step-0000000{step}" / "model") for step in (2, 4))
    assert all((two.tensors[name] == four.tensors[name]).all() for name in two.tensors)
    with pytest.raises(TrainingDiverged, match="step 4"):
        train(data, tmp_path / "stopped", replace(config, max_skipped_steps=1))


def test_the_person_is_told_and_the_log_has_it(data, recipe, tmp_path, capsys):
    train(data, tmp_path / "run", recipe, progress=True)
    told = capsys.readouterr()
    assert told.out == ""
    log = (tmp_path / "run" / "log.txt").read_text(encoding="utf-8")
    for text in ("step 4: validation perplexity forward", "started: ", "finished at step "):
        assert text in told.err
        assert text in log
    assert "sampled loss" in log
    line = next(line for line in log.splitlines() if "step 2 of" in line)
    assert re.search(r"\(\d+\.\d%\), epoch \d+\.\d+, sampled loss \d+\.\d+, [\d,]+ tokens/s, \d+:\d\d:\d\d left$", line)
    logged = [line for line in RunFolder(tmp_path / "run").metrics() if "loss" in line]
    assert all({"step", "epoch", "loss", "tokens_per_second"} <= set(line) for line in logged)


def test_an_exact_loss_is_not_called_sampled(data, recipe, tmp_path):
    train(data, tmp_path / "run", replace(recipe, softmax="full", max_steps=2))
    log = (tmp_path / "run" / "log.txt").read_text(encoding="utf-8")
    assert re.search(r"epoch \d+\.\d+, loss \d+\.\d+, ", log)
    assert "sampled" not in log


def test_a_signal_while_the_model_is_built_leaves_nothing_behind(data, recipe, tmp_path, monkeypatch):
    plain = Trainer.__init__

    def stopping(*arguments, **settings) -> None:
        plain(*arguments, **settings)
        os.kill(os.getpid(), signal.SIGTERM)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "__init__", stopping)
        with pytest.raises(Interrupted, match="stopped by signal 15 before the first step"):
            train(data, tmp_path / "run", recipe)
    assert not (tmp_path / "run").exists()


def test_what_listens_inside_of_a_listening_block_shares_its_flag():
    with stop_flag() as outer:
        with stop_flag() as inner:
            os.kill(os.getpid(), signal.SIGTERM)
        assert inner is outer
        assert outer.signal == signal.SIGTERM
        assert signal.getsignal(signal.SIGTERM) is outer


def test_tensorboard_has_the_curves(data, recipe, tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    train(data, tmp_path / "run", replace(recipe, max_steps=4), log_to="tensorboard")
    events = EventAccumulator(str(tmp_path / "run" / "tensorboard"))
    events.Reload()
    curve = [(event.step, event.value) for event in events.Scalars("sampled loss/mean")]
    logged = [(line["step"], line["loss"]) for line in _metrics(tmp_path / "run") if "loss" in line]
    assert curve == [(step, pytest.approx(loss, rel=1e-6)) for step, loss in logged]
    assert [event.step for event in events.Scalars("perplexity valid/mean")] == [4]


def test_without_tensorboard_the_line_to_install_it_is_named(data, recipe, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'pyelmo\[tensorboard\]'"):
        train(data, tmp_path / "run", recipe, log_to="tensorboard")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("optimizer", ["adagrad", "adamw"])
def test_every_evaluation_sees_the_weights_of_its_own_step(data, recipe, tmp_path, optimizer):
    config = replace(recipe, optimizer=optimizer, learning_rate=0.05, evaluate_every=2, keep_checkpoints=100)
    train(data, tmp_path / "run", config)
    sentences = list(validation_sentences(data, 0))
    told = {line["step"]: line["mean_perplexity"] for line in _metrics(tmp_path / "run") if "evaluation" in line}
    for folder in RunFolder(tmp_path / "run").checkpoints.glob("step-*"):
        model = read(folder / "model")
        found = evaluate(EngineLanguageModel(model), sentences)
        assert told.pop(int(folder.name.removeprefix("step-"))) == pytest.approx(found.of("mean"), rel=1e-6)
    assert told == {}
