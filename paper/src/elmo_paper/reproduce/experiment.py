"""One table or figure of the paper, from files to a page: `elmo-paper reproduce`.

FOLDER/table2.run.json   what was asked for: task, settings, shares, files with their hashes
FOLDER/table2.json       the record: every system's scores, per label too; differences, intervals, verdicts (`record`)
FOLDER/table2.md         the record as a page, beside the paper's figures
FOLDER/table2.png .svg   the record as a picture
FOLDER/runs/ cache/      the trainings and the biLM's layers (`grid`)
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from elmo.disk.atomic import write_file
from elmo.disk.json_file import read_record, write_json
from elmo.errors import ConfigError, OutputError
from elmo.process.progress.report import Progress, following
from elmo.process.stop_flag import stop_flag
from elmo.process.worker_pool import require_workers
from elmo.tasks.rules import rule_scores
from elmo.tasks.task import E, P, S
from elmo.tasks.tokens.frozen_layers import ELMO, find_encoder
from elmo.tasks.train.job import AnyJob, Job, require_same_run
from elmo.tasks.train.task_data import all_examples
from elmo.weights import formats, hub
from elmo_paper.pages.plots import draw
from elmo_paper.pages.record_page import markdown
from elmo_paper.reproduce.grid import run_grid
from elmo_paper.reproduce.outcomes import Trained, outcome_of
from elmo_paper.reproduce.record import ExperimentRecord, recorded
from elmo_paper.reproduce.systems import (
    EXPERIMENTS,
    System,
    checked_bilms,
    checked_shares,
    encoder_and_model,
    require_experiment,
    require_open,
    systems_of,
)


@dataclass(frozen=True)
class DataFacts:
    """Facts about the examples of a job."""

    num_groups: int
    """How many groups of training examples (questions about one article) a share is drawn from."""
    units: Mapping[str, Sequence[Hashable]]
    """By data, the unit of each example: what belongs together (a document's sentences) is resampled together."""
    rules: Sequence[Mapping[str, Any]]
    """The task's rules without learning: "rule", "label", the metric by data, and all "scores"."""
    trained_on: Mapping[str, tuple[int, int]]
    """See `TaskData.trained_on`."""


def data_facts(job: Job[S, E, P]) -> DataFacts:
    """Reads all files. Raises TextError for errors in them."""
    data = all_examples(job.task, job.settings, job.files)
    scored = data.scored()
    units = {name: job.task.groups(examples) for name, examples in scored.items()}
    rules = rule_scores(job.task.rules(data.train), job.task.score, job.task.metric, scored)
    return DataFacts(len(set(job.task.groups(data.train))), units, rules, data.trained_on)


SEEDS = (1, 2, 3)


@dataclass(frozen=True)
class Reproduced:
    """The results, and the files that were written."""

    results: ExperimentRecord
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
    bilms: Sequence[str] | None = None,
    name: str | None = None,
    workers: int = 1,
    progress: Progress | bool = False,
) -> Reproduced:
    """Trains all systems of a table or figure with all seeds, and compares them as the paper does.

    `job`: task, settings, files, folder and options; what the experiment compares, and the seeds, are set here.
    `seeds`: one or more (default: 1, 2, 3, or those of the resumed experiment). `shares`: percentages, for figure 1
    alone (default: `systems.SHARES`, or those of the resumed experiment). `bilms`: names or folders of models, or
    cove=FOLDER, context2vec=FOLDER, minilm=FOLDER and mssg=FILE, for "bilms" alone (default: those of the resumed
    experiment). `name`: of the data set, for page and picture (default: that of the training file's folder). `workers`:
    systems that are trained at a time, in processes that share torch's threads. `progress`: receives what `train`
    reports, and as lines which training is next; of several workers the number of trainings; True: bars on stderr.
    Several experiments may share one folder, each begun without `resume`. Raises ConfigError, TextError, OutputError,
    and Interrupted when stopped with everything saved.
    """
    require_experiment(experiment)
    require_open(experiment, job.settings)
    noted = _noted(experiment, job.run, job.options.resume)
    seeds = list(noted.get("seeds", SEEDS) if seeds is None else seeds)
    job = job.with_options(seeds=seeds)
    require_workers(workers)
    if shares and experiment != "figure1":
        raise ConfigError(f"--shares was given, but {experiment} trains on all of the data. Leave it out.")
    if bilms and experiment != "bilms":
        raise ConfigError(f"--bilms was given, but {experiment} compares nothing with other biLMs. Use --model.")
    compared = list(noted.get("bilms", ()) if bilms is None else bilms)
    if experiment == "bilms":
        _require_models(compared, job.settings.tokens.encoder)
    with stop_flag() as flag, following(progress) as reported:
        with flag.at_once():
            facts = data_facts(job)
        if not facts.units.keys() & {"dev", "test"}:
            raise ConfigError(
                f"{job.files.train}: all training examples belong together (one document or article), so none are held "
                "out as dev data, and there would be no scores to compare. Give --dev or --test."
            )
        systems = _systems(experiment, job, facts, noted.get("shares", ()) if shares is None else shares, compared)
        asked = {"experiment": experiment, **job.facts()}
        if experiment == "figure1":
            asked["shares"] = sorted({system.share for system in systems})
        if experiment == "bilms":
            asked["bilms"] = compared
        name = noted.get("name", job.files.train.resolve().parent.name) if name is None else name
        begun = _begun(job, asked, {"name": name, "seeds": seeds})
        trained = run_grid(job, systems, workers=workers, progress=reported)
        return _written(begun, trained, facts, job.run, reported)


def _noted(experiment: str, folder: Path, resume: bool) -> dict[str, Any]:
    """What the experiment was begun as, if it is resumed. Raises OutputError if the folder is taken."""
    path = _note(folder, experiment)
    if resume and not path.is_file():
        raise ConfigError(f"{path}: is missing, so no {experiment} was begun there. Start it without --resume.")
    if resume:
        return read_record(path)
    if path.is_file():
        raise OutputError(
            f"{path}: {experiment} was begun there before. Use --resume to continue it, or name another folder."
        )
    if folder.exists() and not _is_ours(folder):
        raise OutputError(
            f"{folder}: exists already and holds files that 'elmo-paper reproduce' doesn't write. Name another folder."
        )
    return {}


def _require_models(bilms: Sequence[str], usual: str) -> None:
    """What is wrong with a model is raised before anything is trained."""
    for name in checked_bilms(bilms):
        encoder, model = encoder_and_model(name, usual)
        if encoder == ELMO:
            formats.read(hub.resolve(model))  # a published model is downloaded
        else:
            find_encoder(encoder, model, device="cpu")


def _systems(
    experiment: str, job: AnyJob, facts: DataFacts, shares: Sequence[float], bilms: Sequence[str]
) -> list[System]:
    """The systems to train. ConfigError if one's settings don't fit together, before anything is written."""
    if experiment == "figure1":
        shares = checked_shares(shares, facts.num_groups)
    systems = systems_of(experiment, job.settings, shares, bilms)
    for system in systems:
        try:
            job.task.check_settings(system.settings)
        except ConfigError as error:
            raise ConfigError(f"the system {system.label!r} can't be trained: {error}") from None
    return systems


def _begun(job: AnyJob, asked: dict[str, Any], changeable: dict[str, Any]) -> dict[str, Any]:
    """Records the request. Raises ConfigError if the experiment was begun as another; `changeable` may differ."""
    path = _note(job.run, asked["experiment"])
    require_same_run(path, asked, job.task.settings())
    facts = {**asked, **changeable, "files": {name: str(file) for name, file in job.files.present().items()}}
    job.run.mkdir(parents=True, exist_ok=True)
    write_json(path, facts)
    return facts


def _note(folder: Path, experiment: str) -> Path:
    return folder / f"{experiment}.run.json"


def _is_ours(folder: Path) -> bool:
    is_used = any(_note(folder, experiment).is_file() for experiment in EXPERIMENTS)
    has_trainings = any(folder.glob("runs/*/run.json"))  # they may come from another machine
    return folder.is_dir() and (is_used or has_trainings or not any(folder.iterdir()))


def _written(
    begun: dict[str, Any], trained: list[Trained], facts: DataFacts, folder: Path, progress: Progress
) -> Reproduced:
    remembered = {"trained_on": facts.trained_on} if facts.trained_on else {}
    record = recorded(begun | remembered, [outcome_of(one, folder, facts.units) for one in trained], facts.rules)
    path = folder / begun["experiment"]
    files = [path.with_name(f"{path.name}.json"), path.with_name(f"{path.name}.md")]
    write_json(files[0], record)
    page = markdown(record, _trainings(record))
    write_file(files[1], page.encode())
    files += draw(record, path)
    return Reproduced(record, page, files)


def _trainings(record: ExperimentRecord) -> list[str]:
    settings, systems = record["settings"], record["systems"]
    files = ", ".join(f"{name} {file}" for name, file in record["files"].items())
    held_out = "" if "dev" in record["files"] else " (dev: a tenth of the training data, held out)"
    return [
        f"task {record['task']}: {files}{held_out}",
        f"biLM: {', '.join(_bilms(record))}; static vectors: {', '.join(settings['static']) or 'none'}",
        f"systems: {len(systems)}, trainings of each: {len(record['seeds'])}, epochs at most: {settings['epochs']}; "
        f"elmo {record['elmo']}",
    ]


def _bilms(record: ExperimentRecord) -> Iterator[str]:
    """The models by name, each with the first digits of its hash: one name may be that of several editions."""
    hashes = [system["inputs"]["bilm"] for system in record["systems"] if "bilm" in system["inputs"]]
    models = record.get("bilms", [record["settings"]["model"]])
    usual = record["settings"]["encoder"]
    names = (hub.lasting_name(model) if encoder_and_model(model, usual)[0] == usual else model for model in models)
    for model, own in zip_longest(names, hashes[: len(models)]):
        yield model if own is None else f"{model} ({own[:12]})"
