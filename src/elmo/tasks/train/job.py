"""Job: one call of `train` - which task, with which settings, on which files, into which folder, with which seeds."""

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, TypeAlias

from elmo.disk.bounded import file_hash
from elmo.disk.json_file import read_record, write_json
from elmo.errors import ConfigError, OutputError
from elmo.setting_checks import Seed, require_setting, require_value
from elmo.tasks.settings import TaskSettings, to_table, with_table
from elmo.tasks.task import E, P, S, Task
from elmo.tasks.tokens.layer_store import StoredType
from elmo.text.files.text_file import check_is_text_file, is_stream, require_no_stream

SCORED = ("dev", "test", "second_test")
"""What models can be scored on. The second test data don't decide the claims about the first: they have their own."""

REMEMBERED = "the score says how well it is remembered, not how well the model does on new text"
"""What a score on training data means."""


def require_same_run(path: Path, facts: dict[str, Any], defaults: TaskSettings) -> None:
    """ConfigError if the run of `path` was begun with other facts; nothing if it wasn't begun.

    `facts`: plain values; its tables "data", "vectors" (hashes by name) and "settings" are compared line by line.
    `defaults`: of the task, which count for settings that didn't exist yet when the run was begun. Hashes of static
    vectors are compared where they were noted: elmo 0.1.0 noted none.
    """
    if not path.is_file():
        return
    noted: dict[str, Any] = {"cache_dtype": "float32"} | read_record(path)  # older runs noted none
    noted["settings"] = to_table(with_table(defaults, noted["settings"], str(path)))
    begun = _flat(json.loads(json.dumps(noted)))
    plain = json.loads(json.dumps(facts))
    plain["data"] = {**dict.fromkeys(noted["data"]), **plain["data"]}  # also of a file that isn't given any more
    if "vectors" not in noted:
        plain.pop("vectors", None)
    for name, now in _flat(plain).items():
        if begun.get(name) != now:
            raise ConfigError(
                f"{path}: the run was started with {name} {begun.get(name)!r}, now it is {now!r}: its parts would not "
                "belong together. Resume with what it was started with, or name another folder."
            )


def is_training_data(run: Path, file: Path) -> bool:
    """Whether `run` is a run folder whose training file has the same content as `file`."""
    facts = run / "run.json"
    if not facts.is_file() or not file.is_file():
        return False
    return read_record(facts)["data"].get("train") == file_hash(file)


def _flat(facts: dict[str, Any]) -> dict[str, Any]:
    single = {"biLM" if name == "bilm" else name: value for name, value in facts.items() if not isinstance(value, dict)}
    data = {f"the {name} file of hash": value for name, value in facts["data"].items()}
    vectors = {f"the static vectors {name!r} of hash": value for name, value in facts.get("vectors", {}).items()}
    return {**single, **facts["settings"], **data, **vectors}


@dataclass(frozen=True)
class Files:
    """A task's data."""

    train: Path
    """Labelled training data; .gz, .xz, .bz2 and .zst are unpacked."""
    dev: Path | None = None
    """Labelled data that decides which epoch is the best (default: a tenth of the training data, held out)."""
    test: Path | None = None
    """Labelled data that is scored once, at the end."""
    second_test: Path | None = None
    """More labelled data, of another kind, that is scored once by the same models."""

    def __post_init__(self) -> None:
        """Raises ConfigError for what can be read only once."""
        for path in self.present().values():
            require_no_stream(path)

    def present(self) -> dict[str, Path]:
        """The files there are, by "train" and the names in `SCORED`."""
        return {name: path for name, path in vars(self).items() if path is not None}

    def hashes(self) -> dict[str, str]:
        """SHA-256 of each file there is."""
        return {name: file_hash(path) for name, path in self.present().items()}


@dataclass(frozen=True)
class RunOptions:
    """How a job is run; only `cache_dtype` changes a model."""

    seeds: Sequence[int] = (1,)
    cache: Path | None = None
    """Folder of the encoder's layers, which any number of runs may share (default: in the run folder)."""
    cache_dtype: StoredType = "float32"
    include_bilm: bool = False
    """Whether the saved models have a copy of the biLM."""
    keep_models: bool = True
    """Whether models are saved at all."""
    rules: bool = True
    """Whether the task's rules without learning are scored beside the models."""
    resume: bool = False
    """Go on in a run folder, with the same settings and files; more seeds are allowed."""

    def __post_init__(self) -> None:
        """Raises ConfigError if there is no seed, one twice, or one that a generator of random numbers can't take."""
        require_setting(len(set(self.seeds)) == len(self.seeds) > 0, "seeds", self.seeds, "one or more, each once")
        for seed in self.seeds:
            require_value("seed", seed, Seed)


@dataclass(frozen=True)
class Job(Generic[S, E, P]):
    """What is trained."""

    task: Task[S, E, P]
    settings: S
    files: Files
    run: Path
    """The folder of the results."""
    options: RunOptions = field(default_factory=RunOptions)

    def with_options(self, **options: Any) -> "Job[S, E, P]":
        """The same job with other options."""
        return replace(self, options=replace(self.options, **options))

    def facts(self) -> dict[str, Any]:
        """What makes it this job, plain for JSON. Raises TextError for static vectors that can't be read."""
        vectors = {name: _vectors_hash(file) for name, file in self.settings.tokens.static_files.items()}
        settings = to_table(self.settings)
        return {"task": self.task.name, "settings": settings, "data": self.files.hashes(), "vectors": vectors}

    def note(self, bilm: str | None, cache_dtype: StoredType) -> None:
        """Writes run.json, what the run is; ConfigError if it was begun as another. `bilm`: the encoder's hash."""
        facts = {**self.facts(), "bilm": bilm, "cache_dtype": cache_dtype}
        path = self.run / "run.json"
        if path.is_file():
            require_same_run(path, facts, self.task.settings())
        else:
            write_json(path, {**facts, "files": {name: str(file) for name, file in self.files.present().items()}})

    def require_free(self) -> None:
        """Raises OutputError if the folder of a new run can't be used, ConfigError if there is no run to resume."""
        begun = (self.run / "run.json").is_file()
        if self.options.resume and not begun:
            raise ConfigError(f"{self.run}: there is no run to resume, run.json is missing. Start it without --resume.")
        if not self.options.resume and self.run.exists() and (not self.run.is_dir() or any(self.run.iterdir())):
            resume = "Use --resume to continue the run in it, or name" if begun else "There is no run in it: name"
            raise OutputError(f"{self.run}: exists already and is not empty. {resume} another.")


def outcome_file(run: Path, seed: int) -> Path:
    """Where a run's outcome of a seed is, once that is trained."""
    return run / f"seed-{seed}" / "scores.json"


def _vectors_hash(file: str) -> str | None:
    """SHA-256 of a file of static vectors; None for what can be read only once."""
    check_is_text_file(file)
    return None if is_stream(file) else file_hash(Path(file))


AnyJob: TypeAlias = Job[Any, Any, Any]
"""A job whose task's types are known to itself alone."""


Outcome = dict[str, Any]
"""Of one seed: scores by data (`SCORED`), each a task's `Scores`, and other facts."""


def over_seeds(found: Mapping[int, Outcome], metric: str, best_by: str = "") -> dict[str, Any]:
    """Of the outcome of each seed: mean, standard deviation and single scores of `metric`, plain for JSON.

    The standard deviation is the sample's (n - 1 in the denominator), None for one seed. "best_seed" has the best dev
    score `best_by` (default: `metric`).
    """
    outcomes = [{"seed": seed, **outcome} for seed, outcome in found.items()]
    summary: dict[str, Any] = {"metric": metric, "seeds": list(found)}
    for data in SCORED:
        if all(outcome.get(data) for outcome in outcomes):
            summary[data] = summarize([float(outcome[data][metric]) for outcome in outcomes])
    best = max(outcomes, key=lambda outcome: (outcome.get("dev") or {}).get(best_by or metric, 0.0))
    return {**summary, "best_seed": best["seed"], "per_seed": outcomes}


def summarize(scores: Sequence[float]) -> dict[str, Any]:
    """Mean, standard deviation (None for one score) and the scores."""
    spread = statistics.stdev(scores) if len(scores) > 1 else None
    return {"mean": statistics.fmean(scores), "standard_deviation": spread, "scores": list(scores)}
