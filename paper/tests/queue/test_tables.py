"""The queue of the paper's tables: it goes on where it was, tells what is left, and gives records at any time."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from elmo.disk.json_file import read_toml
from elmo.errors import ConfigError, Interrupted
from elmo.weights.native.write import write
from elmo_paper.cli.main import main
from elmo_paper.places import PLANS
from elmo_paper.queue import tables
from elmo_paper.queue.plan import bilm_hash, planned_parts, trainings_of


def arguments(place: Path, table: str = "table1", name: str = "out") -> list[str]:
    files = ["--data", str(place / "data"), "--static", str(place / "vectors.txt"), "--model", str(place / "model")]
    return [table, str(place / name), *files, "--plan", str(place / "plan.toml")]


def results(place: Path, name: str) -> dict[str, dict]:
    """The records, without when and at which commit they and their trainings were made."""
    found = {path.parent.name: json.loads(path.read_text()) for path in sorted((place / name).glob("*/table1.json"))}
    for record in found.values():
        for made in (record, *(one for system in record["systems"] for one in system["trained"])):
            assert made.pop("date") and made.pop("machine")
            made.pop("commit")  # none outside of a checkout, and another one if somebody commits meanwhile
    return found


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (KeyboardInterrupt(), Interrupted.exit_code, "interrupted\n"),
        # As a training says it.
        (Interrupted("stopped. Continue with the same command and --resume."), Interrupted.exit_code,
         "stopped. Continue with the same command.\n"),
    ],
)  # fmt: skip
def test_who_stops_a_queue_is_told_to_repeat_the_command(place, capsys, monkeypatch, error, code, told):
    def stopped(*_: object) -> None:
        raise error

    monkeypatch.setattr(tables, "train_all", stopped)
    assert main(["tables", *arguments(place)]) == code
    assert capsys.readouterr().err == told


def test_before_anything_is_trained_the_plan_says_how_long_it_takes(place, capsys):
    assert main(["tables", *arguments(place), "--status"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "ner     0 of 4 trainings; no record yet; towns"
    assert told[2:] == ["done: 0 of 8 trainings in 0 min", "left: about 16 min of CPU, as planned"]
    assert not (place / "out").exists()


def test_figure_1_counts_a_small_share_as_more_than_its_share(place):
    plan = place / "plan.toml"
    plan.write_text(plan.read_text() + '\n[figure1]\ntasks = ["ner"]\nseeds = [1]\nshares = [1, 100]\n')
    parts = list(planned_parts(tables._arguments(arguments(place, "figure1"))))
    assert tables.minutes_left(trainings_of(parts)) == pytest.approx((2 + 4) * 1.3)


def test_a_task_of_a_table_may_have_seeds_of_its_own(place):
    plan = place / "plan.toml"
    plan.write_text(plan.read_text().replace("seeds = [1, 2]", "seeds = [1, 2]\nown_seeds = { sst = [1, 2, 3] }"))
    parts = list(planned_parts(tables._arguments(arguments(place))))
    assert [list(part.seeds) for part in parts] == [[1, 2], [1, 2, 3]]
    parts = list(planned_parts(tables._arguments([*arguments(place), "--seeds", "7"])))
    assert [list(part.seeds) for part in parts] == [[7], [7]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--tasks", "srl"], "table1 has no task 'srl', only ner, sst"),
        (["--data", "nowhere"], "there is no such file, but the plan's 'ner' needs it"),
        (["--plan", "nowhere.toml"], "nowhere.toml: there is no such file"),
        (["--workers", "0"], "--workers"),
        (["--bilms", "typo"], "--bilms was given, but table1 compares nothing with other biLMs"),
    ],
)
def test_what_the_plan_the_data_or_the_table_can_not_use_is_said(place, capsys, change, message):
    assert main(["tables", *arguments(place), *change, "--status"]) == 2
    assert message in capsys.readouterr().err


def test_a_task_may_have_several_data_sets(place, capsys):
    plan = place / "plan.toml"
    more = plan.read_text().replace("[ner]", "[towns]\ntask = 'ner'").replace('["ner", "sst"]', '["towns", "sst"]')
    plan.write_text(more)
    parts = list(planned_parts(tables._arguments(arguments(place))))
    assert [part.job.task.name for part in parts] == ["ner", "sst"]
    assert [part.job.run for part in parts] == [place / "out" / "towns", place / "out" / "sst"]


@pytest.mark.slow
@pytest.mark.parametrize("plan", ["plan", "more_data", "korean"])
def test_the_files_of_each_plan_are_read_as_what_they_are(tmp_path, shared, plan):
    (tmp_path / "vectors.txt").write_text("the 1 0\n")
    settings = ["--data", str(shared / "data"), "--static", str(tmp_path / "vectors.txt")]
    asked = ["table1", str(tmp_path / "out"), *settings, "--plan", str(PLANS / f"{plan}.toml")]
    for part in planned_parts(tables._arguments(asked)):
        task, own = part.job.task, part.job.settings
        vocabulary = task.vocabulary(task.read(part.job.files.dev, own), own)
        if part.section == "ko-reviews":
            assert vocabulary["labels"] == ["0", "1"]


@pytest.mark.parametrize("plan", ["plan", "more_data", "korean", "longer"])
def test_the_settings_of_each_plan_are_known_to_its_tasks(tmp_path, plan):
    settings = ["--data", str(tmp_path), "--static", str(tmp_path), "--plan", str(PLANS / f"{plan}.toml")]
    given = tables._arguments(["table1", str(tmp_path / "out"), *settings])
    for section in read_toml(given.plan)["table1"]["tasks"]:
        # The settings are read before the files are looked for, and there are none here.
        with pytest.raises(ConfigError, match=f"there is no such file, but the plan's '{section}' needs it"):
            list(planned_parts(tables._arguments(["table1", str(tmp_path), *settings, "--tasks", section])))


def test_a_record_has_no_path_of_this_machine():
    settings = {"model": "/a/b/small-en", "static": ["/a/vectors.txt"], "epochs": 3}
    found = tables.portable({"settings": settings, "files": {"train": "/a/c/train.conll"}, "seeds": [1]})
    assert found["settings"] == {"model": "small-en", "static": ["vectors.txt"], "epochs": 3}
    assert found["files"] == {"train": "train.conll"}
    labels = ["baseline (no ELMo)", "+ ELMo of a/model", "+ CoVe of b/model"]
    systems = [{"system": f"s{place}" if place else "baseline", "label": text} for place, text in enumerate(labels)]
    record = {"settings": settings, "files": {}, "bilms": ["/x/a/model", "cove=/x/b/model"], "systems": systems}
    assert tables.portable(record)["bilms"] == ["a/model", "b/model"]


def with_record(place: Path) -> list[str]:
    """The arguments of a queue whose one part has a record."""
    asked = [*arguments(place), "--tasks", "ner"]
    (part,) = planned_parts(tables._arguments(asked))
    part.job.run.mkdir(parents=True)
    begun = {"experiment": "table1", **part.job.facts()}
    (part.job.run / "table1.run.json").write_text(json.dumps(begun))
    begun["files"] = {}
    read = {"baseline": {}, "elmo": {"bilm": bilm_hash("elmo", str(place / "model"))}}
    systems = [{"system": name, "inputs": inputs} for name, inputs in read.items()]
    part.record.write_text(json.dumps({**begun, "seeds": [1, 2], "systems": systems}))
    return asked


def test_a_record_of_what_is_asked_for_is_believed(place, capsys):
    asked = with_record(place)
    assert main(["tables", *asked, "--status"]) == 0
    assert "record of 2 of 2 seeds" in capsys.readouterr().out


def test_a_record_says_which_seeds_the_plan_has_whichever_are_asked_for(place):
    asked = with_record(place)
    assert main(["tables", *asked, "--seeds", "1", "--record", str(place / "records")]) == 0
    assert json.loads((place / "records" / "ner.table1.json").read_text())["planned_seeds"] == [1, 2]


def test_single_systems_are_trained_for_the_table_without_a_record(place, capsys, one_thread):
    asked = [*arguments(place), "--tasks", "ner"]
    assert main(["tables", *asked, "--systems", "baseline", "--seeds", "2"]) == 0
    (trained,) = (place / "out").rglob("seed-*/scores.json")
    assert trained.parent.name == "seed-2" and trained.parents[1].name.startswith("baseline-")
    assert not (place / "out" / "ner" / "table1.run.json").exists()
    capsys.readouterr()
    assert main(["tables", *asked, "--status"]) == 0
    assert capsys.readouterr().out.startswith("ner     1 of 4 trainings; no record yet; towns\n")
    assert main(["tables", *asked, "--systems", "baseline", "output"]) == 2
    told = capsys.readouterr().err
    assert f"--systems has output, but no system's folder begins so. There are: {trained.parents[1].name}, mix-" in told


@pytest.mark.parametrize("change", ["data", "vectors", "model", "settings", "other model"])
@pytest.mark.parametrize("action", ["train", "status", "record"])
def test_a_record_of_something_else_is_not_believed(place, capsys, change, action, tiny_bilm):
    asked = with_record(place)
    if change == "data":
        (place / "data" / "towns" / "dev.conll").write_text("Rome B-LOC\n")
    elif change == "vectors":
        (place / "vectors.txt").write_text("the 0 1\n")
    elif change == "settings":
        (place / "ner.toml").write_text("hidden_sizes = [5]\n")
    else:
        checkpoint = tiny_bilm.to_checkpoint()
        tensors = {name: tensor * 2 for name, tensor in checkpoint.tensors.items()}
        place = place / "other" if change == "other model" else place
        bilm_hash.cache_clear()
        write(replace(checkpoint, tensors=tensors), place / "model", force=True)
        asked[asked.index("--model") + 1] = str(place / "model")
    more = {"train": [], "status": ["--status"], "record": ["--record", str(place / "records")]}[action]
    assert main(["tables", *asked, *more]) == 2
    told = capsys.readouterr().err
    assert "was made with a model of hash" in told if change == "model" else "the run was started with" in told
    assert not (place / "records" / "ner.table1.json").exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('tasks = ["ner", "sst"]', 'tasks = ["towns"]', "plan.toml: table1 has no task 'towns'"),
        ("seeds = [1, 2]", "seeds = 3", "[table1]: Expected `array`, got `int` - at `$.seeds`. Add or correct it."),
        ("[table1]", "[table2]", "plan.toml: table1 is not in this plan, which has table2, table3. Name another one."),
        ("minutes = { baseline = 2, elmo = 4 }", "", "[ner]: Object missing required field `minutes`"),
    ],
)
def test_a_fault_of_the_plan_is_named(place, capsys, old, new, message):
    plan = place / "plan.toml"
    plan.write_text(plan.read_text().replace(old, new, 1))
    assert main(["tables", *arguments(place), "--status"]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.slow
def test_killed_it_goes_on_round_by_round_and_ends_the_same(place, capsys, monkeypatch, one_thread):
    assert main(["tables", *arguments(place, name="whole")]) == 0
    rounds = [line for line in capsys.readouterr().err.splitlines() if line.startswith("table1, round")]
    assert [line.split()[2] + line.split("(")[1][:3] for line in rounds] == ["1ner", "1sst", "2ner", "2sst"]

    killed(place, arguments(place, name="cut"), once_there=place / "cut" / "ner" / "table1.json")
    assert results(place, "cut")["ner"]["seeds"] == [1]
    assert main(["tables", *arguments(place, name="cut"), "--record", str(place / "records")]) == 0
    partial = json.loads((place / "records" / "ner.table1.json").read_text())
    assert (partial["seeds"], partial["planned_seeds"]) == ([1], [1, 2])
    before = {path: path.stat().st_mtime_ns for path in (place / "cut" / "ner" / "runs").rglob("scores.json")}

    assert main(["tables", *arguments(place, name="cut")]) == 0
    assert results(place, "cut") == results(place, "whole")
    after = {path: path.stat().st_mtime_ns for path in before if path.parent.name == "seed-1"}
    assert after and after.items() <= before.items()

    capsys.readouterr()
    assert main(["tables", *arguments(place, name="cut"), "--status"]) == 0
    assert capsys.readouterr().out.endswith("left: nothing\n")
    # Table 3 trains the same network with ELMo at the input: it isn't trained again.
    assert main(["tables", *arguments(place, "table3", name="cut")]) == 0
    assert "input only, seed 1: finished before" in capsys.readouterr().err


def killed(place: Path, command: list[str], once_there: Path) -> None:
    """Runs the queue and kills it as soon as a file is there."""
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "elmo_paper", "tables", *command], env=environment, stderr=subprocess.DEVNULL
    )
    for _ in range(6000):
        if once_there.is_file():
            break
        assert process.poll() is None, "ended by itself"
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
