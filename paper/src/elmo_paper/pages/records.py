"""The records in paper/records, and the claims of each table of the paper that they and the plans hold.

reproduction/SECTION.TABLE.json     an experiment, as `elmo-paper tables --record` writes it
reproduction/finetuned/TEXT.json    table 7, of `elmo-paper finetuned`
analysis/ANALYSIS-MODEL.json        tables 4 to 6, of the analyses

What a plan in paper/plans has and no record shows is "not measured yet".
"""

import json
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from elmo.disk.json_file import read_toml
from elmo.errors import ConfigError
from elmo_paper.analysis.record import Record
from elmo_paper.pages.claims import NOT_YET, SEEDS_AT_FIRST, Row, rows_of_record
from elmo_paper.pages.tables import TITLES, data_name, with_interval
from elmo_paper.places import ANALYSES, BILMS, PLANS, RECORDS
from elmo_paper.reproduce import paper
from elmo_paper.reproduce.layer_claims import layer_claims
from elmo_paper.reproduce.record import ExperimentRecord

LINK = "../paper/records"
"""From a page in docs/."""
# As the paper's table 1 has them.
ORDER = ("squad", "snli", "srl", "coref", "ner", "sst")
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
"""Of docs/paper.md, by table."""


@dataclass(frozen=True)
class Folders:
    """Where the records are."""

    records: Path
    analyses: Path

    def of(self, table: str) -> dict[str, ExperimentRecord]:
        """By section, in the paper's order and then that of the plans; more epochs only with as many seeds."""
        found = {path.name.split(".")[0]: read(path) for path in sorted(self.records.glob(f"*.{table}.json"))}
        order = dict.fromkeys(name for one in [*ORDER, *_planned(table), *found] for name in (one, f"{one}-longer"))
        return {
            name: found[name]
            for name in order
            if "claims" in found.get(name, ())
            and (not name.endswith("-longer") or len(found[name]["seeds"]) >= SEEDS_AT_FIRST)
        }

    def named(self, table: str, *sections: str) -> list[dict[str, Any]]:
        """The records of a table and these sections, as far as there are any."""
        paths = [self.records / f"{section}.{table}.json" for section in sections]
        return [read(path) for path in paths if path.is_file()]

    def analyzed(self, table: str) -> dict[str, Record]:
        """By the name of its file, the records of the analysis that is table 4, 5 or 6."""
        return {path.name: read(path) for path in sorted(self.analyses.glob(f"{ANALYSIS_OF[table]}-*.json"))}

    def analysis(self, name: str) -> Record:
        """One record of an analysis."""
        return read(self.analyses / f"{name}.json")

    def finetuned(self) -> dict[str, dict[str, Any]]:
        """By text, the records of table 7, in the order of the table."""
        paths = {text: self.records / "finetuned" / f"{text}.json" for text in paper.TABLE_7}
        return {text: read(path) for text, path in paths.items() if path.is_file()}


REPOSITORY = Folders(RECORDS, ANALYSES)


def read(path: Path) -> dict[str, Any]:
    """One record."""
    return json.loads(path.read_text(encoding="utf-8"))


def bilm_name(system: Mapping[str, Any]) -> str:
    """The model and edition that a system read. Raises ConfigError for one without a name."""
    own, names = system.get("inputs", {}).get("bilm"), read_toml(BILMS)
    if own not in names:
        raise ConfigError(f"{BILMS}: has no name for the biLM of hash {own}, which a record was made with. Add a line.")
    return names[own]


def rows_of(table: str, folders: Folders) -> list[Row]:
    """All claims of a table."""
    if table == "table7":
        return list(_finetuned_rows(folders))
    return list(_layer_rows(table, folders) if table in ANALYSIS_OF else _experiment_rows(table, folders))


def _planned(table: str) -> dict[str, Path]:
    """Sections of all plans, each with its plan, English first; those with twice the epochs are none of the paper's."""
    found: dict[str, Path] = {}
    for path in sorted(PLANS.glob("*.toml"), key=lambda one: (one.name != "plan.toml", one.stem == "korean", one.name)):
        tasks = read_toml(path).get(table, {}).get("tasks", ()) if path != BILMS else ()
        found |= {section: path for section in tasks if section not in found and not section.endswith("-longer")}
    return found


def _experiment_rows(table: str, folders: Folders) -> Iterator[Row]:
    records = folders.of(table)
    for section, record in records.items():
        for row in rows_of_record(record, f"{LINK}/reproduction/{section}.{table}.json"):
            other = record.get("second_name") if row.measured_on == "second_test" else record["name"]
            is_main = row.measured_on != "second_test" and section in ORDER
            yield replace(row, short="" if is_main else other or row.data)
    for section, path in _planned(table).items():
        if section not in records and section in _TASKS_OF_PAPER.get(table, (section,)):
            own = {"task": section, **read_toml(path)[section]}
            plan = "" if path.name == "plan.toml" else f" --plan paper/plans/{path.name}"
            command = f"elmo-paper tables {table} --tasks {section}{plan}"
            short = "" if section in ORDER else own["name"]
            yield Row("", data_name(own), NOT_YET, own["task"], short, command)


def _layer_rows(table: str, folders: Folders) -> Iterator[Row]:
    for file, record in folders.analyzed(table).items():
        yield from layer_rows(table, record, f"{LINK}/analysis/{file}")


def layer_rows(table: str, record: Record, link: str = "") -> Iterator[Row]:
    """The claims of table 4, 5 or 6 about one model; `link`: to the record."""
    model = record["model"]
    for one in layer_claims(table, record):
        if one.ours is not None and one.verdict is not None:
            mean, *ends = one.ours
            ours = with_interval(mean, ends, 1)
            yield Row(one.claim, model, one.verdict, model, link=link, paper=one.paper, ours=ours, interval=ends)
        elif "-ko" not in model:
            command = f"elmo-paper {record['analysis']} --encoder cove=FOLDER"
            yield Row(one.claim, model, NOT_YET, model, link=command, paper=one.paper)


def _finetuned_rows(folders: Folders) -> Iterator[Row]:
    """One for each text of a task; the paper claims nothing about those that it didn't fine-tune on."""
    claim, records = "an epoch on a task's text lowers its perplexity", folders.finetuned()
    for text, (name, first, last) in paper.TABLE_7.items():
        theirs = f"{name}: {first}, not tuned" if last is None else f"{name}: {_change(first, last)}"
        record, task = records.get(text), text.partition("-")[0]
        if record is None:
            yield Row(claim, text, NOT_YET, task, link=f"elmo-paper finetuned --texts {text}", paper=theirs)
            continue
        low, high = record["ratio"]["interval"]
        change = _change(record["perplexity"]["before"], statistics.fmean(record["perplexity"]["after"]))
        verdict, link = "measured" if last is None else record["verdict"], f"{LINK}/reproduction/finetuned/{text}.json"
        ours = f"{change} [{low:.2f}, {high:.2f}]"
        yield Row(claim, data_name(record), verdict, task, link=link, paper=theirs, ours=ours)


def _change(before: float, after: float) -> str:
    return f"{before:.1f} -> {after:.1f}, x {after / before:.2f}"


def other_headings(folders: Folders) -> dict[str, str]:
    """By experiment, those that no other block of the page shows and that a record or a plan has."""
    plans = [read_toml(path) for path in sorted(PLANS.glob("*.toml"))]
    planned = {name for plan in plans for name, own in plan.items() if isinstance(own, dict) and "seeds" in own}
    there = {path.name.split(".")[1] for path in folders.records.glob("*.*.json")}
    others = sorted((planned | there) - {*HEADINGS})
    return {name: TITLES.get(name, name) for name in others if rows_of(name, folders)}
