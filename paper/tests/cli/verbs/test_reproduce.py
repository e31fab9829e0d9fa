"""`elmo-paper reproduce`: the paper's ablations by one command each, on tiny data with a tiny model."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import elmo
from elmo.cli.main import main as library
from elmo.disk.folder_lock import locked
from elmo.process.stop_flag import stop_flag
from elmo.static.vectors import StaticVectors
from elmo.tasks.train import train as train_module
from elmo.weights.native.write import write
from elmo_paper.cli.main import main
from elmo_paper.mssg.senses import SenseVectors, write_sense_vectors

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]

SMALL = ["--hidden-sizes", "8", "--character-filters", "4", "--epochs", "1", "--batch-size", "10", "--dropout", "0.1"]


@pytest.fixture
def other_model_folder(tmp_path, language_model) -> Path:
    """The same model with larger weights."""
    larger = {name: 1.5 * tensor for name, tensor in language_model.tensors.items()}
    write(replace(language_model, tensors=larger), tmp_path / "other")
    return tmp_path / "other"


@pytest.fixture
def arguments(tmp_path, data, model_folder):
    """Of an experiment in a folder of that name; more flags win."""

    def make(experiment: str, name: str, *flags: str) -> list[str]:
        files = ["--train", str(data), "--dev", str(data), "--model", str(model_folder), "-o", str(tmp_path / name)]
        return ["reproduce", experiment, "ner", *files, *SMALL, *flags]

    return make


def results(folder: Path, experiment: str) -> dict:
    return json.loads((folder / f"{experiment}.json").read_text(encoding="utf-8"))


def undated(record: dict) -> dict:
    """Without when and at which commit it and its trainings were made."""
    for made in (record, *(one for system in record["systems"] for one in system["trained"])):
        for name in ("date", "commit"):
            made.pop(name)
    return record


def test_table2_from_files_to_a_page_beside_the_paper(arguments, tmp_path, data, capsys):
    assert main(arguments("table2", "out", "--test", str(data), "--seeds", "1", "2")) == 0
    told = capsys.readouterr()
    page = (tmp_path / "out" / "table2.md").read_text(encoding="utf-8")
    assert told.out.startswith(page)
    assert "cell 1 of 8: baseline (no ELMo), seed 1: begins\n" in told.err
    assert "cell 8 of 8: all layers, lambda 0.001, seed 2: begins\n" in told.err
    found = results(tmp_path / "out", "table2")
    assert [system["system"] for system in found["systems"]] == ["baseline", "top", "lambda-1", "lambda-0.001"]
    assert (found["seeds"], found["metric"], found["task"]) == ([1, 2], "f1", "ner")
    for system in found["systems"]:
        run = json.loads((tmp_path / "out" / system["run"] / "scores.json").read_text())
        for part in ("dev", "test"):
            assert run[part].items() <= system[part].items()
            assert [seed[part] for seed in system["per_seed"]] == [seed[part] for seed in run["per_seed"]]
        assert run["rules"] == []  # they are scored once, for all runs
        assert f"{run['test']['mean']:.2f} ± {run['test']['standard_deviation']:.2f}" in page
    assert found["bootstrap"]["units"] == {"dev": 40, "test": 40}
    assert [rule["rule"] for rule in found["rules"]] == ["training-names"]
    assert found["name"] == tmp_path.name
    assert {claim["varies"] for claim in found["claims"]} == {"seeds and examples"}
    pictures = {"table2.png", "table2.svg"} if find_spec("matplotlib") else set()  # told of above if it is missing
    assert {path.name for path in (tmp_path / "out").iterdir()} == pictures | {
        "table2.run.json", "table2.json", "table2.md", "runs", "cache",
    }  # fmt: skip
    assert not list((tmp_path / "out" / "runs").rglob("model"))


def test_table1_has_the_gain_a_rule_and_the_papers_line(arguments, tmp_path):
    assert main(arguments("table1", "out", "--seeds", "1", "2", "--name", "towns", "--quiet")) == 0
    page = (tmp_path / "out" / "table1.md").read_text(encoding="utf-8")
    assert page.startswith("# What ELMo adds (table 1 of the paper): towns (named entities)\n")
    for words in (
        "| here, dev: rule: names of the training data ",
        "| paper, test (CoNLL-2003, F1) ",
        "bootstrap over 40",
    ):
        assert words in page
    found = results(tmp_path / "out", "table1")
    assert [system["system"] for system in found["systems"]] == ["baseline", "elmo"]
    assert found["rules"][0]["dev"] > 90  # the dev data are the training data
    assert main(arguments("table1", "out", "--resume", "--quiet")) == 0
    assert results(tmp_path / "out", "table1")["name"] == "towns"


@pytest.mark.parametrize("workers", ["1", "2"])
def test_bilms_are_compared_each_with_the_baseline_and_with_the_first(
    arguments, tmp_path, model_folder, other_model_folder, workers, capsys
):
    senses = tmp_path / "senses.txt"
    words = StaticVectors(["Anna", "Rome", "saw"], np.eye(3, dtype=np.float32))
    write_sense_vectors(senses, SenseVectors(words, np.eye(3, dtype=np.float32), None, np.arange(4)))
    asked = arguments("bilms", "out", "--seeds", "1", "2", "--workers", workers)
    assert main([*asked, "--bilms", str(model_folder), str(other_model_folder), f"mssg={senses}"]) == 0
    found = results(tmp_path / "out", "bilms")
    assert [system["label"] for system in found["systems"]] == [
        "baseline (no ELMo)",
        "+ ELMo of model",
        "+ ELMo of other",
        "+ MSSG of senses.txt",
    ]
    assert len({system["dev"]["mean"] for system in found["systems"]}) == 4
    assert [claim["claim"] for claim in found["claims"]] == [
        "ELMo of model beats the baseline",
        "ELMo of other beats the baseline",
        "MSSG of senses.txt beats the baseline",
        "ELMo of other beats ELMo of model",
        "ELMo of model beats MSSG of senses.txt",
    ]
    first, second, third = (system["inputs"]["bilm"][:12] for system in found["systems"][1:])
    read = f"biLM: {model_folder} ({first}), {other_model_folder} ({second}), mssg={senses} ({third});"
    assert read in capsys.readouterr().out
    assert len({first, second, third}) == 3
    assert main([*asked, "--resume", "--bilms", str(other_model_folder), str(model_folder)]) == 2
    assert main([*asked, "--resume", "--quiet"]) == 0
    assert undated(results(tmp_path / "out", "bilms")) == undated(found)


def test_experiments_share_a_folder_its_layers_and_its_trainings(arguments, tmp_path, capsys):
    assert main(arguments("table3", "out", "--seeds", "1", "--quiet")) == 0
    cache = {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "cache").rglob("*")}
    runs = {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "runs").rglob("metrics.jsonl")}
    assert main(arguments("figure2", "out", "--seeds", "1", "--json")) == 0
    told = capsys.readouterr()
    assert told.err.count("finished before") == 3
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "runs").rglob("metrics.jsonl")} == runs
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "cache").rglob("*")} == cache
    found = json.loads(told.out)
    assert found == results(tmp_path / "out", "figure2")
    assert [len(system["mixes"]) for system in found["systems"]] == [1, 2, 1]
    for system in found["systems"]:
        for mix in system["mixes"]:
            assert sum(weight["mean"] for weight in mix["weights"]) == pytest.approx(1)


def test_figure1_trains_on_nested_shares_and_keeps_models_if_asked(arguments, tmp_path, data, capsys):
    flags = ["--seeds", "1", "--shares", "100", "10", "--keep-models"]
    assert main(arguments("figure1", "out", *flags)) == 0
    told = capsys.readouterr()
    assert "cell 2 of 4: + ELMo, 10 % of the data, seed 1: begins\n" in told.err
    found = results(tmp_path / "out", "figure1")
    assert [(system["system"], system["share"]) for system in found["systems"]] == [
        ("baseline", 10), ("elmo", 10), ("baseline", 100), ("elmo", 100),
    ]  # fmt: skip
    shares = [json.loads((tmp_path / "out" / system["run"] / "run.json").read_text()) for system in found["systems"]]
    assert [share["settings"]["train_share"] for share in shares] == [0.1, 0.1, 1.0, 1.0]
    model = tmp_path / "out" / found["systems"][3]["run"]
    assert library(["task", "evaluate", str(model), str(data), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["f1"] == found["systems"][3]["dev"]["mean"]


def test_models_that_were_not_kept_are_not_there_to_be_kept_later(arguments, tmp_path, capsys):
    assert main(arguments("table1", "out", "--seeds", "1")) == 0
    capsys.readouterr()
    assert main(arguments("table1", "out", "--seeds", "1", "--resume", "--keep-models")) == 2
    assert "seed-1: was trained without keeping its model" in capsys.readouterr().err
    assert main(arguments("table1", "out", "--seeds", "1", "--resume")) == 0


def test_killed_and_stopped_it_goes_on_and_ends_the_same(arguments, tmp_path, monkeypatch, capsys):
    seeds = ["--seeds", "1", "2"]
    assert main(arguments("table3", "whole", *seeds, "--quiet")) == 0

    kill_after_the_first_training(arguments("table3", "cut", *seeds, "--quiet"), tmp_path / "cut")
    looks = iter(range(10_000))

    class Flag:
        signal = property(lambda self: 15 if next(looks) >= 14 else None)
        check = train_module.StopFlag.check
        at_once = nullcontext

    @contextmanager
    def stopping():
        yield Flag()

    monkeypatch.setattr(train_module, "stop_flag", stopping)
    assert main(arguments("table3", "cut", "--resume")) == 75
    told = capsys.readouterr().err
    assert "cell 1 of 6: input only, seed 1: finished before" in told
    assert "Continue with the same command and --resume" in told
    assert not (tmp_path / "cut" / "table3.json").exists()
    monkeypatch.setattr(train_module, "stop_flag", stop_flag)
    assert main(arguments("table3", "cut", "--resume", "--quiet")) == 0
    assert undated(results(tmp_path / "whole", "table3")) == undated(results(tmp_path / "cut", "table3"))
    assert (tmp_path / "whole" / "table3.md").read_text() == (tmp_path / "cut" / "table3.md").read_text()


def kill_after_the_first_training(command: list[str], folder: Path) -> None:
    assert ended_by(signal.SIGKILL, command, folder) == -signal.SIGKILL
    assert not (folder / "table3.json").exists()


def ended_by(number: int, command: list[str], folder: Path, begun: int = 1) -> int:
    """The exit code of a command that gets a signal when its first training is done and so many runs have begun."""
    environment = {**os.environ, "PYTHONPATH": str(Path(elmo.__file__).parents[1]), "OMP_NUM_THREADS": "1"}
    with subprocess.Popen([sys.executable, "-m", "elmo_paper", *command], env=environment) as process:
        while not list(folder.glob("runs/*/seed-1/scores.json")) or len(list(folder.glob("runs/*/run.json"))) < begun:
            assert process.poll() is None
            time.sleep(0.005)
        process.send_signal(number)
        return process.wait()


def test_side_by_side_killed_and_stopped_it_goes_on_and_ends_the_same(arguments, tmp_path, capfd):
    seeds = ["--seeds", "1", "2", "3"]
    assert main(arguments("table3", "whole", *seeds, "--quiet")) == 0
    beside = [*arguments("table3", "cut", *seeds), "--workers", "2"]
    assert ended_by(signal.SIGTERM, beside, tmp_path / "cut", begun=2) == 75
    begun = [path.parent for path in (tmp_path / "cut" / "runs").glob("*/run.json")]
    assert len(begun) >= 2  # the third follows when the first is done
    assert not (tmp_path / "cut" / "table3.json").exists()
    for run in begun:  # nobody is left there
        with locked(run, "test"):
            pass
    for done in (tmp_path / "cut").rglob("seed-1/scores.json"):
        done.unlink()  # so that it is trained again, and there is something to wait for
    assert ended_by(signal.SIGKILL, [*beside, "--resume"], tmp_path / "cut") == -signal.SIGKILL
    capfd.readouterr()
    assert main([*beside, "--resume"]) == 0
    told = capfd.readouterr().err  # of the processes too
    assert "rror" not in told
    assert undated(results(tmp_path / "whole", "table3")) == undated(results(tmp_path / "cut", "table3"))
    assert (tmp_path / "whole" / "table3.md").read_text() == (tmp_path / "cut" / "table3.md").read_text()


def test_what_fails_side_by_side_is_told(arguments, tmp_path, capsys):
    command = arguments("table3", "out", "--seeds", "1", "--workers", "3", "--learning-rate", "1e38", "--quiet")
    assert main([*command, "--clip-norm", "0", "--optimizer", "sgd", "--epochs", "9"]) == 2
    assert "the training of seed 1 diverged" in capsys.readouterr().err


def test_it_is_resumed_as_it_was_begun_and_only_if_asked(arguments, tmp_path, capsys):
    flags = ["--shares", "50", "100", "--epochs", "1", "--quiet"]
    assert main(arguments("figure1", "out", "--seeds", "1", *flags)) == 0
    assert main(arguments("figure1", "out", "--seeds", "1", *flags)) == 2
    assert "Use --resume" in capsys.readouterr().err
    assert main(arguments("figure1", "out", "--resume", "--quiet", "--epochs", "1", "--learning-rate", "0.5")) == 2
    assert "started with learning_rate 0.001, now it is 0.5" in capsys.readouterr().err
    assert main(arguments("table3", "out", "--resume")) == 2
    assert "table3.run.json: is missing, so no table3 was begun there" in capsys.readouterr().err
    more = ["--resume", "--quiet", "--epochs", "1", "--seeds", "1", "3"]  # its shares are remembered
    assert main(arguments("figure1", "out", *more)) == 0
    found = results(tmp_path / "out", "figure1")
    assert (found["seeds"], found["shares"], len(found["systems"])) == ([1, 3], [50, 100], 4)


def test_sentences_are_a_task_too_and_static_vectors_are_used(tmp_path, model_folder):
    (tmp_path / "data.tsv").write_text("0\ta bad film\n1\ta good film\n" * 10)
    (tmp_path / "vectors.txt").write_text("bad 1 0\ngood 0 1\nfilm 1 1\n")
    flags = ["--train", str(tmp_path / "data.tsv"), "--static", str(tmp_path / "vectors.txt"), "--hidden-size", "4"]
    flags += ["--model", str(model_folder), "--epochs", "2", "--seeds", "1", "-o", str(tmp_path / "out"), "--quiet"]
    assert main(["reproduce", "table3", "sst", *flags]) == 0
    page = (tmp_path / "out" / "table3.md").read_text()
    assert "| dev accuracy |" in page
    assert "(dev: a tenth of the training data, held out)" in page
    assert f"static vectors: {tmp_path / 'vectors.txt'}" in page


def test_a_system_that_would_read_nothing_is_told_before_the_others_are_trained(arguments, tmp_path, capsys):
    assert main(arguments("table3", "out", "--character-filters", "0")) == 2
    told = capsys.readouterr().err
    assert "the system 'output only' can't be trained: the model would read nothing" in told
    assert not (tmp_path / "out").exists()


def test_a_folder_with_other_things_is_left_alone(arguments, tmp_path, capsys):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letter.txt").write_text("Dear")
    assert main(arguments("table2", "out")) == 2
    assert "holds files that 'elmo-paper reproduce' doesn't write" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["letter.txt"]


@pytest.mark.parametrize(
    ("experiment", "flags", "message"),
    [
        ("table2", ["--shares", "10"], "--shares was given, but table2 trains on all of the data"),
        ("table2", ["--seeds", "1", "1"], "each once (got [1, 1])"),
        ("bilms", ["--bilms", "small-en", "nowhere/model"], "nowhere/model"),
        ("bilms", ["--bilms", "small-en", "."], "holds no model"),
        ("bilms", ["--bilms", "small-en", "cove=nowhere"], "nowhere: "),
        ("bilms", ["--bilms", "small-en", "mssg=no.txt"], "no.txt: there is no such file"),
    ],
)
def test_what_makes_no_sense_is_told_before_anything_is_written(
    arguments, tmp_path, capsys, experiment, flags, message
):
    assert main(arguments(experiment, "out", *flags)) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_nothing_said_is_answered_with_help(capsys):
    assert main(["reproduce"]) == 2
    assert main(["reproduce", "table2"]) == 2
    assert "usage: elmo-paper reproduce" in capsys.readouterr().err
    assert main(["reproduce", "table2", "--help"]) == 0


def test_the_help_of_every_setting_does_not_load_torch():
    code = "import sys\nfrom elmo_paper.cli.main import main\ntry: main(['reproduce', 'table2', 'sst', '--help'])\n"
    code += "except SystemExit: pass\nprint('torch' in sys.modules, file=sys.stderr)"
    environment = {**os.environ, "PYTHONPATH": str(Path(elmo.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert "--shares" in done.stdout
    assert done.stderr.split() == ["False"]
