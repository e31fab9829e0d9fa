"""One table or figure of the paper, from files to a page: `elmo reproduce`.

FOLDER/table2.run.json   what was asked for: task, settings, shares, files with their hashes
FOLDER/table2.json       every system's mean, spread and single scores; the claims and what became of them
FOLDER/table2.md         the same to read, beside the paper's numbers
FOLDER/table2.png .svg   the same to show
FOLDER/runs/ cache/      the trainings and the biLM's layers (`grid`)
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elmo.disk.atomic import new_file
from elmo.errors import ConfigError, MissingExtraError, OutputError
from elmo.process.stop_flag import stop_flag
from elmo.reproduce import paper
from elmo.reproduce.claims import Judged, judge
from elmo.reproduce.drawing import draw, require_matplotlib
from elmo.reproduce.grid import require_fitting, run_grid
from elmo.reproduce.outcomes import Outcome
from elmo.reproduce.report import markdown, reductions
from elmo.reproduce.systems import (
    EXPERIMENTS,
    System,
    checked_shares,
    require_experiment,
    require_open,
    systems_of,
)
from elmo.tasks.saved_model import bilm_name
from elmo.tasks.settings import require
from elmo.tasks.train.job import AnyJob
from elmo.tasks.train.run_facts import require_same_run, write_json_file
from elmo.tasks.train.seeds import require_seeds
from elmo.tasks.train.train import count_examples
from elmo.version import __version__

SEEDS = (1, 2, 3)


@dataclass(frozen=True)
class Reproduced:
    """What came out."""

    results: dict[str, Any]
    """As in the JSON file."""
    page: str
    """As in the Markdown file."""
    files: list[Path]
    """All that were written; without pictures if matplotlib is missing."""


def reproduce(
    experiment: str,
    job: AnyJob,
    *,
    seeds: Sequence[int] | None = None,
    shares: Sequence[float] | None = None,
    workers: int = 1,
) -> Reproduced:
    """Trains all systems of a table or figure with all seeds, and compares them as the paper does.

    `job`: task, settings, files, folder and options; what the experiment compares, and the seeds, are set here.
    `seeds`: one or more (default: 1, 2, 3, or those of the resumed experiment). `shares`: percentages, for figure 1
    alone (default: `systems.SHARES`, or those of the resumed experiment). `workers`: systems that are trained at a
    time, in processes that share torch's threads. Several experiments may share one folder, each begun without
    `resume`. Raises ConfigError, TextError, OutputError, and Interrupted when stopped with everything saved.
    """
    require_experiment(experiment)
    require_open(experiment, job.settings)
    noted = _noted(experiment, job.run, job.options.resume)
    seeds = list(noted.get("seeds", SEEDS) if seeds is None else seeds)
    require_seeds(seeds)
    require(workers >= 1, "--workers", workers, "a whole number from 1 on")
    if shares and experiment != "figure1":
        raise ConfigError(f"--shares was given, but {experiment} trains on all of the data. Leave it out.")
    with stop_flag():
        if not job.options.quiet:
            _warn_without_matplotlib()
        systems = _systems(experiment, job, noted.get("shares", ()) if shares is None else shares)
        asked = {"experiment": experiment, **job.facts()}
        if experiment == "figure1":
            asked["shares"] = sorted({system.share for system in systems})
        begun = _begun(job, asked, seeds)
        outcomes = run_grid(job.with_options(seeds=seeds), systems, workers=workers)
        return _written(experiment, begun, outcomes, job.run)


def _warn_without_matplotlib() -> None:
    """Before hours of training, not after them."""
    try:
        require_matplotlib()
    except MissingExtraError as error:
        print(f"{error}. The table is written without it.", file=sys.stderr)


def _noted(experiment: str, folder: Path, resume: bool) -> dict[str, Any]:
    """What the experiment was begun as, if it is resumed. Raises OutputError if the folder is taken."""
    path = _note(folder, experiment)
    if resume and not path.is_file():
        raise ConfigError(f"{path}: is missing, so no {experiment} was begun there. Start it without --resume.")
    if resume:
        return json.loads(path.read_text(encoding="utf-8"))
    if path.is_file():
        raise OutputError(
            f"{path}: {experiment} was begun there before. Use --resume to go on with it, or name another folder."
        )
    if folder.exists() and not _is_ours(folder):
        raise OutputError(
            f"{folder}: exists already and holds other things than what 'elmo reproduce' writes. Name another folder."
        )
    return {}


def _systems(experiment: str, job: AnyJob, shares: Sequence[float]) -> list[System]:
    """What is to be trained. Errors in the files or in a system end here, before anything is written."""
    count = count_examples(job)
    if experiment == "figure1":
        shares = checked_shares(shares, count)
    systems = systems_of(experiment, job.settings, shares)
    for system in systems:
        require_fitting(job.task, system)
    return systems


def _begun(job: AnyJob, asked: dict[str, Any], seeds: Sequence[int]) -> dict[str, Any]:
    """Notes what is asked for, once it is seen that it is what was begun, if anything was."""
    path = _note(job.run, asked["experiment"])
    require_same_run(path, asked, job.task.settings())
    facts = {**asked, "seeds": list(seeds), "files": {name: str(file) for name, file in job.files.present().items()}}
    job.run.mkdir(parents=True, exist_ok=True)
    write_json_file(path, facts)
    return facts


def _note(folder: Path, experiment: str) -> Path:
    return folder / f"{experiment}.run.json"


def _is_ours(folder: Path) -> bool:
    is_used = any(_note(folder, experiment).is_file() for experiment in EXPERIMENTS)
    return folder.is_dir() and (is_used or not any(folder.iterdir()))


def _written(experiment: str, begun: dict[str, Any], outcomes: list[Outcome], folder: Path) -> Reproduced:
    judged = judge(experiment, outcomes)
    results = _results(begun, outcomes, judged, folder)
    page = markdown(experiment, outcomes, judged, _facts(begun, outcomes))
    files = [folder / f"{experiment}.json", folder / f"{experiment}.md"]
    write_json_file(files[0], results)
    with new_file(files[1], size=len(page), force=True) as unfinished:
        unfinished.write_text(page, encoding="utf-8")
    try:
        files += draw(experiment, outcomes, folder / experiment)
    except MissingExtraError as error:
        print(f"{error}; then run the same command with --resume: nothing is trained again.", file=sys.stderr)
    return Reproduced(results, page, files)


def _results(begun: dict[str, Any], outcomes: list[Outcome], judged: list[Judged], folder: Path) -> dict[str, Any]:
    experiment = begun["experiment"]
    first = outcomes[0].summary
    known = paper.TABLE_1.get(begun["task"])
    return {
        **begun,
        "elmo_version": __version__,
        "metric": first["metric"],
        "systems": [outcome.table(folder) for outcome in outcomes],
        "error_reduction": reductions(outcomes),
        "claims": [one.table() for one in judged],
        "paper": {
            "source": paper.SOURCE,
            "table": paper.TABLES.get(experiment),
            "says": paper.PICTURES.get(experiment),
            "table1": None if known is None else vars(known),
        },
    }


def _facts(begun: dict[str, Any], outcomes: list[Outcome]) -> list[str]:
    """What a reader must know of the trainings."""
    settings = begun["settings"]
    files = ", ".join(f"{name} {file}" for name, file in begun["files"].items())
    held_out = "" if "dev" in begun["files"] else " (dev: a tenth of the training data, held out)"
    return [
        f"task {begun['task']}: {files}{held_out}",
        f"biLM: {bilm_name(settings['model'])}; static vectors: {', '.join(settings['static']) or 'none'}",
        f"systems: {len(outcomes)}, trainings of each: {len(outcomes[0].summary['seeds'])}, epochs at most: "
        f"{settings['epochs']}; elmo {__version__}",
    ]
