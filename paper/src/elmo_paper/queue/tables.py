"""The paper's tables on its six tasks: a queue of trainings that goes on where it was, however it ended.

    nice -n 15 elmo-paper tables table1 FOLDER --data DATA --static VECTORS --model small-en
    elmo-paper tables table1 FOLDER --data DATA --static VECTORS --model small-en --status
    elmo-paper tables table1 FOLDER ... --record paper/records/reproduction

The first command trains; the tables are table1 to table3, figure1, figure2, gamma, taglm and bilms, which compares
--model with the models of --bilms, biLMs or cove=FOLDER. What is trained on what, and how many CPU minutes it needs,
stands in paper/plans/plan.toml; --plan names another one: more_data.toml, korean.toml. VECTORS are static vectors of
the biLM's own text:

    elmo static TEXT -o VECTORS --seed 1

Trainings go round by round: every task with its first seed, then every task with its second one. After each task of a
round, FOLDER/TASK/TABLE.json is the record of the seeds that are done. Nothing is trained twice, and tables share
equal trainings. A training saves its state every two minutes, so kill -9 loses no more than that; Ctrl-C and SIGTERM
lose nothing. The same command continues.

--status says what is done and how long the rest takes at the measured pace; it can be asked beside a running queue.
--record copies the records made so far into a folder of the repository, without this machine's paths; a record with
fewer seeds than planned says so. Then: elmo-paper pages

--systems trains single lines of a table and writes no record: for a training that was lost with its machine, or to
share a table's trainings among machines, from which `elmo-paper finished` brings them together. A line is named by its
folder in FOLDER/TASK/runs, or the beginning of that name; the error about a wrong one lists them. Several such commands
may work in one FOLDER at the same time, each on lines of its own. One seed of one line:

    elmo-paper tables table3 FOLDER ... --tasks squad --systems mix-output --seeds 1
"""

import argparse
import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from elmo.disk.folder_lock import locked
from elmo.disk.json_file import read_record, write_json
from elmo.errors import ConfigError, Interrupted
from elmo.process.progress.report import following
from elmo.process.resources import keep_freed_memory
from elmo.process.stop_flag import stop_flag
from elmo.setting_checks import require_setting
from elmo_paper.queue.plan import TABLES, Part, Training, add_arguments, planned_parts, trainings_of


def main(argv: Sequence[str] | None = None) -> int:
    """Trains, tells, or copies; the exit code."""
    try:
        _do(_arguments(argv))
    except Interrupted as error:
        raise Interrupted(str(error).replace("the same command and --resume", "the same command")) from None
    return 0


def _do(given: argparse.Namespace) -> None:
    require_setting(given.workers >= 1, "--workers", given.workers, "a whole number from 1 on")
    if given.bilms and given.table != "bilms":
        raise ConfigError(f"--bilms was given, but {given.table} compares nothing with other biLMs. Use --model.")
    parts = list(planned_parts(given))
    keep_freed_memory()
    if given.record is not None:
        print("\n".join(f"written: {path}" for path in recorded(parts, given.record)))
    elif given.status:
        print(status(parts, given.workers))
    elif given.systems:
        train_alone(parts, given.systems, given.workers)
    else:
        given.folder.mkdir(parents=True, exist_ok=True)
        with locked(given.folder, "'elmo-paper tables'"):
            train_all(parts, given.workers)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    made = argparse.ArgumentParser(
        "elmo-paper tables", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("table", choices=TABLES)
    add_arguments(made)
    made.add_argument("--seeds", nargs="+", type=int, help="in place of the plan's")
    made.add_argument("--workers", type=int, default=1, help="trainings at a time")
    only = made.add_mutually_exclusive_group()
    only.add_argument("--status", action="store_true", help="only say what is done and what is left")
    only.add_argument("--record", type=Path, metavar="FOLDER", help="only copy the records made so far there")
    only.add_argument("--systems", nargs="+", metavar="NAME", help="only train these, and write no record")
    return made.parse_args(argv)


def train_all(parts: Sequence[Part], workers: int) -> None:
    """Everything that isn't done, round by round. Raises Interrupted when stopped, with everything saved."""
    with stop_flag() as flag:
        for last in range(1, 1 + max(len(part.seeds) for part in parts)):
            for part in parts:
                if set(part.seeds[:last]) <= set(part.done()):
                    continue
                if flag.signal is not None:
                    raise Interrupted(f"stopped by signal {flag.signal}. The same command continues.")
                _say(f"{part.table}, round {last} of {len(part.seeds)}: {part.name} ({part.section})")
                try:
                    _train(part, part.seeds[:last], workers)
                finally:
                    _say(status(parts, workers))


def train_alone(parts: Sequence[Part], names: Sequence[str], workers: int) -> None:
    """Trains the systems whose folders' names begin with one of `names`. Raises ConfigError if there is no such one."""
    from elmo_paper.reproduce.grid import run_grid  # here, as below

    folders = [system.folder for part in parts for system in part.systems]
    if wrong := [name for name in names if not any(folder.startswith(name) for folder in folders)]:
        raise ConfigError(
            f"--systems has {wrong[0]}, but no system's folder begins so. There are: {', '.join(folders)}. Name one."
        )
    with stop_flag(), following(True) as progress:
        for part in parts:
            if systems := [system for system in part.systems if system.folder.startswith(tuple(names))]:
                run_grid(part.job.with_options(seeds=part.seeds), systems, workers=workers, progress=progress)


def _train(part: Part, seeds: Sequence[int], workers: int) -> None:
    # Here, because --status and --record need no torch.
    from elmo_paper.reproduce.experiment import reproduce

    begun = (part.job.run / f"{part.table}.run.json").is_file()
    job = part.job.with_options(resume=begun)
    shares, bilms = part.shares or None, part.bilms or None
    reproduce(part.table, job, seeds=seeds, shares=shares, bilms=bilms, name=part.name, workers=workers, progress=True)


def status(parts: Sequence[Part], workers: int = 1) -> str:
    """What is done, and how long the rest takes at the pace of what is done."""
    trainings = trainings_of(parts)
    done = [one for one in trainings if one.is_done]
    lines = [f"{part.section:6} {_line(part)}" for part in parts]
    lines.append(f"done: {len(done)} of {len(trainings)} trainings in {_hours(sum(one.measured() for one in done))}")
    left = minutes_left(trainings)
    pace = "at the measured pace" if done else "of CPU, as planned"
    side_by_side = f", {workers} at a time" if workers > 1 else ""
    lines.append(f"left: about {_hours(left / workers)} {pace}{side_by_side}" if left else "left: nothing")
    return "\n".join(lines)


def minutes_left(trainings: Sequence[Training]) -> float:
    """Of the trainings that aren't done: the mean of the same system's others, else the plan at the general pace."""
    done = [one for one in trainings if one.is_done]
    planned = sum(one.planned for one in done)
    pace = sum(one.measured() for one in done) / planned if planned else 1.0
    return sum(_expected(one, done, pace) for one in trainings if not one.is_done)


def _expected(training: Training, done: Sequence[Training], pace: float) -> float:
    like = [one.measured() for one in done if one.folder.parent == training.folder.parent]
    whole = statistics.fmean(like) if like else training.planned * pace
    return max(0.0, whole - training.measured())


def _line(part: Part) -> str:
    own = trainings_of([part])
    done = part.done()
    seeds = f"record of {len(done)} of {len(part.seeds)} seeds" if done else "no record yet"
    return f"{sum(one.is_done for one in own):2} of {len(own)} trainings; {seeds}; {part.name}"


def recorded(parts: Sequence[Part], folder: Path) -> Iterator[Path]:
    """Copies of the records there are, with the planned seeds and without paths of this machine."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in parts:
        if part.done():
            path = folder / f"{part.section}.{part.table}.json"
            named = {} if part.second_name is None else {"second_name": part.second_name}
            write_json(path, {**portable(read_record(part.record)), **named, "planned_seeds": list(part.planned_seeds)})
            yield path


def portable(record: dict[str, Any]) -> dict[str, Any]:
    """The record with file names in place of paths."""
    settings = {**record["settings"], "model": Path(record["settings"]["model"]).name}
    settings["static"] = [Path(file).name for file in settings["static"]]
    own = {"settings": settings, "files": {name: Path(file).name for name, file in record["files"].items()}}
    if "bilms" in record:  # as the labels call them
        named = [system["label"] for system in record["systems"] if system["system"] != "baseline"]
        own["bilms"] = [label.partition(" of ")[2] for label in named]
    return {**record, **own}


def _hours(minutes: float) -> str:
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
