"""`elmo pretrain` as it is typed."""

import json
import os
import shutil
import signal
import tomllib
from contextlib import suppress
from pathlib import Path

import pytest

from elmo import Embedder
from elmo.cli.main import main as elmo_command
from elmo.cli.verbs.pretrain import main
from elmo.corpus.prepare import prepare
from elmo.corpus.shards import TrainingData
from elmo.errors import ConfigError
from elmo.pretrain.run.run_folder import RunFolder
from elmo.pretrain.settings.config import PretrainConfig
from elmo.weights.native.read import read as read_checkpoint

CONFIGS = Path(__file__).resolve().parents[3] / "configs" / "pretrain"
TOML = """
cell_size = 12
projection_size = 8
character_dim = 4
filters = [[1, 4], [2, 4]]
num_highway = 1
batch_size = 2
unroll_steps = 4
num_negative_samples = 4
max_steps = 4
save_every = 2
log_every = 1
skip_connections = false
"""


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    """CONFIG.toml --data DATA -o RUN"""
    text = tmp_path / "train.txt"
    text.write_text("the cat sat on the mat\nthe dog sat on the log\na cat and a dog\n" * 3, encoding="utf-8")
    prepare([text], tmp_path / "data", valid=[text])
    (tmp_path / "tiny.toml").write_text(TOML, encoding="utf-8")
    return [str(tmp_path / "tiny.toml"), "--data", str(tmp_path / "data"), "-o", str(tmp_path / "run")]


def recipe(run: Path) -> PretrainConfig:
    return PretrainConfig.from_dict(json.loads((run / "config.json").read_text()), "config.json")


def metrics(run: Path) -> list[dict]:
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [{key: value for key, value in line.items() if key != "tokens_per_second"} for line in lines]


def test_the_file_gives_the_defaults_and_flags_win(tmp_path, arguments, capsys):
    assert main([*arguments, "--quiet", "--json", "--max-steps", "2", "--skip-connections", "--seed", "5"]) == 0
    found = recipe(tmp_path / "run")
    assert (found.cell_size, found.filters, found.max_steps) == (12, ((1, 4), (2, 4)), 2)
    assert (found.skip_connections, found.seed) == (True, 5)
    assert found.learning_rate == PretrainConfig().learning_rate
    told = json.loads(capsys.readouterr().out)
    assert told["model"] == str(tmp_path / "run" / "model")
    assert told["valid_mean_perplexity"] > 1
    assert isinstance(told["tokens_read"], int)
    assert read_checkpoint(tmp_path / "run" / "model").config.cell_size == 12


def test_flags_need_only_fit_what_the_file_says(tmp_path, arguments):
    (tmp_path / "tiny.toml").write_text(TOML + 'optimizer = "adamw"\nsoftmax = "adaptive"\nsoftmax_cutoffs = [4]\n')
    assert main([*arguments, "--quiet", "--softmax-cutoffs", "5", "8", "--weight-decay", "0.1"]) == 0
    found = recipe(tmp_path / "run")
    assert (found.softmax_cutoffs, found.weight_decay) == ((5, 8), 0.1)


def test_the_result_goes_to_stdout_and_progress_to_stderr(tmp_path, arguments, capsys, terminal, on_terminal):
    assert on_terminal(main, arguments) == 0
    told = capsys.readouterr()
    assert told.out.startswith(f"{tmp_path / 'run' / 'model'}: the model is finished\n")
    assert "on the validation text:\nforward perplexity " in told.out
    assert told.out.endswith(f"next: elmo embed TEXT -o vectors.h5 --model {tmp_path / 'run' / 'model'}\n")
    assert "4 of 4 steps" in terminal.getvalue()
    assert "evaluating on valid: 100%" in terminal.getvalue()
    assert [line.partition(":")[0] for line in terminal.screen] == [
        *("started", "training", "evaluating on valid", "step 4", "finished at step 4", "")
    ]


def test_a_resumed_run_goes_on_with_its_own_settings_bit_for_bit_unless_flags_change_them(tmp_path, arguments):
    data_and_run = arguments[1:]
    assert main([*arguments, "--quiet"]) == 0
    wanted = metrics(tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "checkpoints" / "step-00000004")
    (tmp_path / "run" / "checkpoints" / "latest").write_text("step-00000002")
    shutil.rmtree(tmp_path / "run" / "model")
    assert main([*data_and_run, "--resume", "--quiet"]) == 0
    assert metrics(tmp_path / "run") == wanted
    assert recipe(tmp_path / "run").cell_size == 12
    assert (tmp_path / "run" / "model").is_dir()
    assert main([*data_and_run, "--resume", "--quiet", "--max-steps", "6", "--learning-rate", "0.01"]) == 0
    last = [line for line in metrics(tmp_path / "run") if "learning_rate" in line][-1]
    assert (last["step"], last["learning_rate"]) == (6, 0.01)


def test_one_command_begins_a_run_and_goes_on_with_it(tmp_path, arguments):
    with pytest.raises(ConfigError, match="no run to resume"):
        main([*arguments, "--resume", "--quiet"])
    command = [*arguments, "--resume-if-begun", "--quiet"]
    assert main([*command, "--max-steps", "2"]) == 0
    assert main(command) == 0  # the file's max_steps, and the steps before are not taken again
    assert [line["step"] for line in metrics(tmp_path / "run") if "loss" in line] == [1, 2, 3, 4]
    assert "resumed at step 2" in (tmp_path / "run" / "log.txt").read_text()


def test_a_signal_while_data_are_opened_ends_with_75_and_the_same_command_goes_on(
    tmp_path, arguments, capsys, monkeypatch
):
    plain = TrainingData.open

    def stopping(folder, **settings):
        os.kill(os.getpid(), signal.SIGTERM)
        return plain(folder, **settings)

    with monkeypatch.context() as patch:
        patch.setattr(TrainingData, "open", stopping)
        assert elmo_command(["pretrain", *arguments, "--quiet"]) == 75
    assert "stopped by signal 15 before the first step" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
    assert elmo_command(["pretrain", *arguments, "--quiet"]) == 0


def test_a_signal_while_the_finished_model_is_written_changes_nothing(arguments, monkeypatch):
    plain = RunFolder.finish

    def stopping(run, trainer, metadata):
        os.kill(os.getpid(), signal.SIGTERM)
        return plain(run, trainer, metadata)

    monkeypatch.setattr(RunFolder, "finish", stopping)
    before = signal.getsignal(signal.SIGTERM)
    assert elmo_command(["pretrain", *arguments, "--quiet"]) == 0
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize(
    "flags", [("--dropout", "2"), ("--dropout", "abc"), ("--optimizer", "adam"), ("--dropouts", "0")]
)
def test_a_wrong_flag_gets_one_message_with_a_file_of_settings_and_without(arguments, flags, capsys):
    told = []
    for given in (arguments, arguments[1:]):
        with suppress(SystemExit):
            assert elmo_command(["pretrain", *given, *flags]) == 2
        told.append(capsys.readouterr().err)
    assert flags[0].strip("-") in told[0]
    assert told[0] == told[1]


FORWARD = sorted(path for path in CONFIGS.glob("*.toml") if 'direction = "forward"' in path.read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("config", FORWARD, ids=lambda path: path.stem)
def test_recipes_of_one_direction_run_with_few_cells_and_give_an_encoder(tmp_path, arguments, config):
    few = ["--cell-size", "8", "--projection-size", "8", "--max-steps", "2"]
    few += ["--batch-size", "2", "--unroll-steps", "4", "--evaluate-every", "0", "--quiet"]
    few += [] if 'softmax = "full"' in config.read_text(encoding="utf-8") else ["--num-negative-samples", "4"]
    assert main([str(config), *arguments[1:], *few]) == 0
    (found,) = [line for line in metrics(tmp_path / "run") if "evaluation" in line]
    assert found["forward_perplexity"] == found["mean_perplexity"] and "backward_perplexity" not in found
    (layers,) = Embedder.from_pretrained(tmp_path / "run" / "model").embed([["the", "cat"]])
    assert layers.shape == (tomllib.loads(config.read_text(encoding="utf-8"))["num_layers"] + 1, 2, 8)
