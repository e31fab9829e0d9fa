"""What a plan asks for: the trainings of each table, with their settings, data and seeds.

A plan is a TOML file with a section for each table, [table1], which names data sets and seeds, and one for each data
set, with its files, settings and planned minutes: paper/plans/plan.toml.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from elmo.disk.json_file import read_record, read_records, read_toml
from elmo.errors import ConfigError
from elmo.tasks.registry import find
from elmo.tasks.settings import with_table
from elmo.tasks.train.job import AnyJob, Files, Job, RunOptions, require_same_run
from elmo.weights import formats, hub
from elmo.weights.checkpoint import content_hash
from elmo_paper.places import PLAN
from elmo_paper.reproduce.systems import System, checked_bilms, systems_of

TABLES = ("table1", "table2", "table3", "figure1", "figure2", "gamma", "taglm", "bilms")
S = TypeVar("S")


class Planned(msgspec.Struct):
    """A table of a plan."""

    tasks: list[str]
    """Sections of the plan."""
    seeds: list[int]
    own_seeds: dict[str, list[int]] = {}
    """By section, in place of `seeds`."""
    shares: list[float] = []


class Section(msgspec.Struct):
    """What a plan says of a data set."""

    name: str
    """For people."""
    config: str
    data: str
    """A folder, in which all files are."""
    train: str
    dev: str
    test: str
    minutes: dict[str, float]
    """Planned CPU minutes of a training on all of the data, "baseline" and "elmo"."""
    second_test: str | None = None
    second_name: str | None = None
    """Of the second test data, for people."""
    task: str = ""
    """If it is another than the section's name."""
    settings: dict[str, Any] = {}


@dataclass(frozen=True)
class Part:
    """One task of a table, with all its seeds."""

    table: str
    section: str
    """Of the plan; the folder and the record have its name."""
    name: str
    """Of the data, for people."""
    job: AnyJob
    minutes: dict[str, float]
    """Planned CPU minutes of a training on all of the data, "baseline" and "elmo"."""
    seeds: Sequence[int]
    """Those that are asked for."""
    planned_seeds: Sequence[int]
    second_name: str | None = None
    """Of the second test data, if there are any."""
    shares: Sequence[float] = field(default=())
    bilms: Sequence[str] = field(default=())

    @property
    def systems(self) -> list[System]:
        """What is trained with each seed."""
        return systems_of(self.table, self.job.settings, self.shares, self.bilms)

    @property
    def record(self) -> Path:
        """The record of the seeds that are done."""
        return self.job.run / f"{self.table}.json"

    def done(self) -> list[int]:
        """The seeds in the record. Raises ConfigError if it was made of other things than those that are asked for."""
        if not self.record.is_file():
            return []
        self._require_same_as_asked()
        return read_record(self.record)["seeds"]

    def _require_same_as_asked(self) -> None:
        """Settings, data, vectors and biLMs may have changed since the record was made, also under the same names."""
        asked = {"experiment": self.table, **self.job.facts()}
        if self.table == "figure1":
            asked["shares"] = sorted({system.share for system in self.systems})
        if self.table == "bilms":
            asked["bilms"] = list(self.bilms)
        require_same_run(self.job.run / f"{self.table}.run.json", asked, self.job.task.settings())
        read = {one["system"]: one.get("inputs", {}) for one in read_record(self.record)["systems"]}
        for system in self.systems:
            before, tokens = read.get(system.name, {}).get("bilm"), system.settings.tokens
            if before is not None and before != (now := bilm_hash(tokens.encoder, tokens.model)):
                raise ConfigError(
                    f"{self.record}: was made with a model of hash {before[:12]}, but {tokens.model!r} has {now[:12]} "
                    "now. Name the model it was made with, or another folder for a new queue."
                )

    def planned(self, system: System) -> float:
        """CPU minutes of one training: a small share still has epochs of a quarter of the data, and the same dev."""
        kind = "baseline" if system.settings.tokens.encoder == "none" else "elmo"
        return self.minutes[kind] * max(system.share, 30.0) / 100


@dataclass(frozen=True)
class Training:
    """One training of the queue, as far as it has come."""

    part: Part
    system: System
    seed: int

    @property
    def folder(self) -> Path:
        """Where the training keeps everything."""
        return self.part.job.run / "runs" / self.system.folder / f"seed-{self.seed}"

    @property
    def is_done(self) -> bool:
        """Whether its scores are there."""
        return (self.folder / "scores.json").is_file()

    @property
    def planned(self) -> float:
        """CPU minutes."""
        return self.part.planned(self.system)

    def measured(self) -> float:
        """Minutes that its finished epochs took, scoring included."""
        epochs = [values for _, values in read_records(self.folder / "metrics.jsonl", "epoch")]
        return sum(values["seconds"] + values.get("scoring_seconds", 0.0) for values in epochs) / 60


@cache
def bilm_hash(encoder: str, model: str) -> str:
    """Hash of the weights of a model, which may have changed under its name."""
    if encoder == "elmo":
        return content_hash(formats.read(hub.resolve(model)))
    from elmo.tasks.tokens.frozen_layers import find_encoder  # here, because it needs torch

    return find_encoder(encoder, model, device="cpu").model_hash


def add_arguments(made: argparse.ArgumentParser) -> None:
    """What says which trainings are meant."""
    made.add_argument("folder", type=Path, help="where the queue keeps everything")
    made.add_argument("--data", type=Path, required=True, help="folder of the data sets that the plan names")
    made.add_argument("--static", type=Path, required=True, help="static vectors of the biLM's own text")
    made.add_argument("--model", default="small-en", help="the biLM: a name or a folder")
    made.add_argument("--bilms", nargs="+", default=[], help="bilms: the models to compare with that of --model")
    made.add_argument("--plan", type=Path, default=PLAN)
    made.add_argument("--tasks", nargs="+", help="only these tasks of the plan")


def planned_parts(given: argparse.Namespace) -> Iterator[Part]:
    """The parts of a table, in the order of the plan. Raises ConfigError for what the plan or the data lack."""
    plan = read_toml(given.plan)
    if given.table not in plan:
        there = ", ".join(name for name in TABLES if name in plan) or "no table"
        raise ConfigError(f"{given.plan}: {given.table} is not in this plan, which has {there}. Name another one.")
    table = _of_plan(Planned, plan[given.table], f"{given.plan}: [{given.table}]")
    for section in given.tasks or table.tasks:
        if section not in table.tasks or section not in plan:
            raise ConfigError(
                f"{given.plan}: {given.table} has no task {section!r}, only {', '.join(table.tasks)}. Name one of them."
            )
        own = _of_plan(Section, plan[section], f"{given.plan}: [{section}]")
        planned = table.own_seeds.get(section, table.seeds)
        yield Part(
            given.table,
            section,
            own.name,
            _job(section, own, given),
            own.minutes,
            seeds=given.seeds or planned,
            planned_seeds=planned,
            second_name=own.second_name,
            shares=table.shares,
            bilms=checked_bilms([given.model, *given.bilms]) if given.table == "bilms" else (),
        )


def _of_plan(kind: type[S], values: object, place: str) -> S:
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{place}: {error}. Add or correct it.") from None


def _job(section: str, own: Section, given: argparse.Namespace) -> AnyJob:
    found, config = find(own.task or section), given.plan.parent / own.config
    settings = with_table(found.settings(), read_toml(config), str(config))
    more = {**own.settings, "static": [str(given.static)], "model": given.model}
    settings = with_table(settings, more, f"{given.plan}, {section}")
    named = (own.train, own.dev, own.test, own.second_test)
    paths = [given.data / own.data / name for name in named if name is not None]
    for path in (*paths, given.static):
        if not path.is_file():
            raise ConfigError(f"{path}: there is no such file, but the plan's {section!r} needs it. Check the paths.")
    options = RunOptions(cache=given.folder / "cache", keep_models=False)
    return Job(found, settings, Files(*paths), given.folder / section, options)


def trainings_of(parts: Sequence[Part]) -> list[Training]:
    """Every training of the parts once."""
    every = [Training(part, system, seed) for part in parts for system in part.systems for seed in part.seeds]
    return list({one.folder: one for one in every}.values())
