"""The claims that docs/paper.md shows: a row for each claim and data set, made of a record, or of a plan without one.

Records of experiments are reproduction/SECTION.TABLE.json in paper/records, as `elmo-paper tables --record` writes
them; those of tables 4 to 6 are analysis/ANALYSIS-MODEL.json, of `elmo analyze`; those of table 7,
reproduction/finetuned/TEXT.json, of `elmo-paper finetuned`. What a plan in paper/plans has and no record shows is "not
measured yet".
"""

import json
import re
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from elmo.analysis.record import Record
from elmo.disk.json_file import read_toml
from elmo.errors import ConfigError
from elmo_paper.pages.tables import DIGITS, TITLES, data_name, measured, with_interval
from elmo_paper.places import ANALYSES, BILMS, PLANS, RECORDS
from elmo_paper.reproduce import paper
from elmo_paper.reproduce.layer_claims import layer_claims
from elmo_paper.reproduce.record import ExperimentRecord

# As the paper's table 1 has them.
ORDER = ("squad", "snli", "srl", "coref", "ner", "sst")
NOT_YET = "not measured yet"

# Where the paper has an experiment for fewer tasks than our plan.
_TASKS_OF_PAPER = {"table2": ORDER[:3], "table3": ORDER[:3], "figure1": ORDER[1:3]}
ANALYSIS_OF = {"table4": "precision", "table5": "wsd", "table6": "pos"}
HEADINGS = {
    "table1": "Table 1: what ELMo adds",
    "table2": "Table 2: which layers",
    "table3": "Table 3: where ELMo is put",
    "table4": "Table 4: nearest neighbors",
    "table5": "Table 5: word senses",
    "table6": "Table 6: parts of speech",
    "table7": "Table 7: the biLM fine-tuned on a task's text",
    "figure1": "Figure 1: how much data",
    "figure2": "Figure 2: which layers the mixes use",
    "taglm": "TagLM",
    "bilms": "Another biLM, or CoVe in its place",
    "gamma": "Gamma",
}
"""Of the page, by table."""


@dataclass(frozen=True)
class Row:
    """A claim of the paper on one data set."""

    claim: str
    """Empty for all claims of a table that isn't measured yet."""
    data: str
    short: str
    """What the summary calls the data: the task, or the model."""
    verdict: str
    record: str
    """Its place, from docs/; of what isn't measured the command that makes one."""
    paper: str = ""
    ours: str = ""
    difference: float | None = None
    """Of `ours`."""
    measured_on: str = ""
    """"test", "second_test", "weights" or "epochs"."""

    @property
    def shown_verdict(self) -> str:
        """With a link to the record, or the command."""
        return f"{NOT_YET}: `{self.record}`" if self.verdict == NOT_YET else f"**[{self.verdict}]({self.record})**"


@dataclass(frozen=True)
class Folders:
    """Where the records are."""

    records: Path
    analyses: Path

    def of(self, table: str) -> dict[str, ExperimentRecord]:
        """By section, in the paper's order and then that of the plans; without those of other epochs or editions."""
        found = {path.name.split(".")[0]: read(path) for path in sorted(self.records.glob(f"*.{table}.json"))}
        order = dict.fromkeys([*ORDER, *_planned(table), *found])
        return {
            name: found[name]
            for name in order
            if "claims" in found.get(name, ()) and not re.search(r"-(before|shorter|longer)$", name)
        }

    def analyzed(self, table: str) -> dict[str, Record]:
        """By the name of its file, the records of the analysis that is table 4, 5 or 6."""
        return {path.name: read(path) for path in sorted(self.analyses.glob(f"{ANALYSIS_OF[table]}-*.json"))}

    def finetuned(self) -> dict[str, dict[str, Any]]:
        """By text, the records of table 7, in the order of the table."""
        paths = {text: self.records / "finetuned" / f"{text}.json" for text in paper.TABLE_7}
        return {text: read(path) for text, path in paths.items() if path.is_file()}


REPOSITORY = Folders(RECORDS, ANALYSES)


def read(path: Path) -> dict[str, Any]:
    """One record."""
    return json.loads(path.read_text(encoding="utf-8"))


def _planned(table: str) -> dict[str, Path]:
    """Sections of all plans, each with its plan, English first; those with twice the epochs are none of the paper's."""
    found: dict[str, Path] = {}
    for path in sorted(PLANS.glob("*.toml"), key=lambda one: (one.name != "plan.toml", one.stem == "korean", one.name)):
        tasks = read_toml(path).get(table, {}).get("tasks", ()) if path != BILMS else ()
        found |= {section: path for section in tasks if section not in found and not section.endswith("-longer")}
    return found


def bilm_name(system: Mapping[str, Any]) -> str:
    """The model and edition that a system read. Raises ConfigError for one without a name."""
    own, names = system.get("inputs", {}).get("bilm"), read_toml(BILMS)
    if own not in names:
        raise ConfigError(f"{BILMS}: has no name for the biLM of hash {own}, which a record was made with. Add a line.")
    return names[own]


def partial(record: ExperimentRecord) -> str:
    """ " (partial: 1 of 3 seeds)"; nothing if all seeds are done."""
    done, planned = record["seeds"], record.get("planned_seeds", ())
    return "" if set(planned) <= set(done) else f" (partial: {len(done)} of {len(planned)} seeds)"


def rows_of(table: str, folders: Folders) -> list[Row]:
    """All claims of a table."""
    if table == "table7":
        return list(_finetuned_rows(folders))
    return list(_layer_rows(table, folders) if table in ANALYSIS_OF else _experiment_rows(table, folders))


def _experiment_rows(table: str, folders: Folders) -> Iterator[Row]:
    records = folders.of(table)
    for section, record in records.items():
        for claim, found in groupby(record["claims"], key=lambda one: one["claim"]):
            (one,) = [one for one in found if one["verdict"] is not None]
            yield _row_of(
                claim,
                one,
                record,
                f"../paper/records/reproduction/{section}.{table}.json",
                table == "table1" and section not in ORDER,
            )
    for section, path in _planned(table).items():
        if section not in records and section in _TASKS_OF_PAPER.get(table, (section,)):
            own = {"task": section, **read_toml(path)[section]}
            plan = "" if path.name == "plan.toml" else f" --plan paper/plans/{path.name}"
            command = f"elmo-paper tables {table} --tasks {section}{plan}"
            yield Row("", data_name(own), data_name({"task": own["task"]}), NOT_YET, command)


def _row_of(claim: str, found: Mapping[str, Any], record: ExperimentRecord, link: str, is_more: bool) -> Row:
    """`is_more`: the summary calls the data by their name, because another row has the task's."""
    measured_on = found["measured_on"]
    task = {"task": record["task"]}
    if measured_on == "second_test":
        claim, name, is_more = claim.removesuffix(", on the second test data"), record["second_name"], True
        data = data_name(task | {"name": f"{name}, by the models of {record['name']}"})
    else:
        name, data = record["name"], data_name(record)
    theirs = ", ".join(f"{task} {difference:+.1f}" for task, difference in found["paper"].items())
    ours = measured(found) + (f" {measured_on}" if measured_on in DIGITS else "")
    short = name if is_more else data_name(task)
    own = data + partial(record)
    return Row(claim, own, short, found["verdict"], link, theirs, ours, found["difference"], measured_on)


def _layer_rows(table: str, folders: Folders) -> Iterator[Row]:
    for file, record in folders.analyzed(table).items():
        model, link = record["model"], f"../paper/records/analysis/{file}"
        for one in layer_claims(table, record):
            if one.ours is not None and one.verdict is not None:
                mean, *ends = one.ours
                yield Row(one.claim, model, model, one.verdict, link, one.paper, with_interval(mean, ends, 1))
            elif "-en" in model:
                command = f"elmo analyze {record['analysis']} --cove FOLDER"
                yield Row(one.claim, model, model, NOT_YET, command, one.paper)


def _finetuned_rows(folders: Folders) -> Iterator[Row]:
    """One for each text of a task; the paper claims nothing about those that it didn't fine-tune on."""
    claim, records = "an epoch on a task's text lowers its perplexity", folders.finetuned()
    for text, (name, first, last) in paper.TABLE_7.items():
        theirs = f"{name}: {first}, not tuned" if last is None else f"{name}: {_change(first, last)}"
        record = records.get(text)
        if record is None:
            yield Row(claim, text, text, NOT_YET, f"elmo-paper finetuned --texts {text}", theirs)
            continue
        low, high = record["ratio"]["interval"]
        change = _change(record["perplexity"]["before"], statistics.fmean(record["perplexity"]["after"]))
        verdict, short = "measured" if last is None else record["verdict"], data_name({"task": record["task"]})
        link, ours = f"../paper/records/reproduction/finetuned/{text}.json", f"{change} [{low:.2f}, {high:.2f}]"
        yield Row(claim, data_name(record), short, verdict, link, theirs, ours)


def _change(before: float, after: float) -> str:
    return f"{before:.1f} -> {after:.1f}, x {after / before:.2f}"


def other_headings(folders: Folders) -> dict[str, str]:
    """By experiment, those that no other block of the page shows and that a record or a plan has."""
    plans = [read_toml(path) for path in sorted(PLANS.glob("*.toml"))]
    planned = {name for plan in plans for name, own in plan.items() if isinstance(own, dict) and "seeds" in own}
    there = {path.name.split(".")[1] for path in folders.records.glob("*.*.json")}
    others = sorted((planned | there) - {*HEADINGS})
    return {name: TITLES.get(name, name) for name in others if rows_of(name, folders)}
