"""Claims as rows of a table: what the paper says, what was found, and the verdict, made of a record.

A verdict about the baseline is only given where the baseline had stopped: if the best epoch of any of its seeds was its
last, the row says so in place of the verdict. Verdicts that a second look brought, with seeds added because the first
ones left something undecided, are marked.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from elmo_paper.pages.tables import DIGITS, Cells, aligned, data_name, measured
from elmo_paper.reproduce.record import ExperimentRecord
from elmo_paper.reproduce.verdicts import UNDECIDED

NOT_YET = "not measured yet"
RISING = "no verdict"
SEEDS_AT_FIRST = 3
"""Of a system; more were added after a look at what these had decided."""
FRAGILE = (0.035, 0.065)
"""Corrected p-values so close to 0.05 that another seed may change the verdict."""
CORRECTED = (
    "*An interval without 0 can be not decided: it is that of one difference, while the verdict follows from the "
    "p-value that is corrected for all claims of the table about the same data.*"
)


@dataclass(frozen=True)
class Row:
    """A claim of the paper on one data set."""

    claim: str
    """Empty for all claims of a table that isn't measured yet."""
    data: str
    verdict: str
    """"agrees", "does not agree", "not decided", `RISING` or `NOT_YET`."""
    task: str = ""
    """The task's name in `elmo task`; the model's, of claims about layers alone."""
    short: str = ""
    """What the summary calls the data, where another row has the task's name; else empty."""
    link: str = ""
    """From docs/ to the record; of what isn't measured the command that makes one."""
    note: str = ""
    """Behind the verdict."""
    paper: str = ""
    ours: str = ""
    interval: Sequence[float] | None = None
    p_value: float | None = None
    corrected_p: float | None = None
    difference: float | None = None
    measured_on: str = ""
    """"dev", "test", "second_test", "weights" or "epochs"."""

    @property
    def shown_verdict(self) -> str:
        """With a link to the record, or the command."""
        if self.verdict == NOT_YET:
            return f"{NOT_YET}: `{self.link}`"
        named = f"[{self.verdict}]({self.link})" if self.link else self.verdict
        return f"**{named}**{self.note}"


def claims_table(rows: Sequence[Row], *, name_data: bool = True) -> list[str]:
    """The rows as a Markdown table; columns that all of them leave empty are left out."""
    columns = {
        "claim": [row.claim or "all claims" for row in rows],
        "data": [row.data for row in rows] if name_data else [],
        "the paper": [row.paper for row in rows],
        "here [95 % interval]": [row.ours for row in rows],
        "corrected p": [shown_p(row.corrected_p) for row in rows],
        "verdict, record" if any(row.link for row in rows) else "verdict": [row.shown_verdict for row in rows],
    }
    there = {head: cells for head, cells in columns.items() if any(cells)}
    table: list[Cells] = [[*there], *zip(*there.values(), strict=True)]
    return aligned(table)


def needs_corrected(rows: Sequence[Row]) -> bool:
    """Whether a reader will ask why an interval without 0 is not decided."""
    ends = [row.interval for row in rows if row.verdict == UNDECIDED and row.interval]
    return any(not low <= 0 <= high for low, high in ends)


def rows_of_record(record: ExperimentRecord, link: str = "") -> Iterator[Row]:
    """The claims of an experiment, each on the data that it is decided on; `link`: to the record."""
    for claim, found in groupby(record["claims"], key=lambda one: one["claim"]):
        (one,) = [one for one in found if one["verdict"] is not None]
        yield _row(claim, one, record, link)


def _row(claim: str, found: Mapping[str, Any], record: ExperimentRecord, link: str) -> Row:
    measured_on, data = found["measured_on"], data_name(record)
    if measured_on == "second_test" and "second_name" in record:
        claim = claim.removesuffix(", on the second test data")
        name = f"{record['second_name']}, by the models of {record['name']}"
        data = data_name({"task": record["task"], "name": name})
    rising = rising_baseline(claim, record)
    is_second_look = len(record["seeds"]) > SEEDS_AT_FIRST and found["verdict"] != UNDECIDED
    return Row(
        claim,
        data + partial(record),
        RISING if rising else found["verdict"],
        task=record["task"],
        link=link,
        note=f": {rising}" if rising else f" (second look: {len(record['seeds'])} seeds)" if is_second_look else "",
        paper=", ".join(f"{task} {difference:+.1f}" for task, difference in found["paper"].items()),
        ours=measured(found) + (f" {measured_on}" if measured_on in DIGITS else ""),
        interval=found["interval"],
        p_value=found["p_value"],
        corrected_p=found["corrected_p_value"],
        difference=found["difference"],
        measured_on=measured_on,
    )


def rising_baseline(claim: str, record: ExperimentRecord) -> str:
    """ "the baseline's best epoch is its last (15, 16, 16 of 16)"; empty if the claim needs no baseline, or if all
    baselines that it is about had stopped."""
    if "baseline" not in claim and "gain" not in claim:
        return ""
    baselines = [system for system in record["systems"] if system["system"] == "baseline"]
    named = [system for system in baselines if f" {system['share']:g} % " in f"{claim} "]
    for system in named or baselines:
        if any(best == len(curve) for best, curve in zip(system["best_epochs"], system["curves"], strict=True)):
            return f"the baseline's best epoch is its last ({best_epochs(system)})"
    return ""


def best_epochs(system: Mapping[str, Any]) -> str:
    """ "15, 16, 16 of 16"; after "of" the most epochs that a seed was trained for."""
    most = max(map(len, system["curves"]), default=0)
    return f"{', '.join(map(str, system['best_epochs']))} of {most}"


def partial(record: ExperimentRecord) -> str:
    """ " (partial: 1 of 3 seeds)"; nothing if all seeds are done."""
    done, planned = record["seeds"], record.get("planned_seeds", ())
    return "" if set(planned) <= set(done) else f" (partial: {len(done)} of {len(planned)} seeds)"


def shown_p(value: float | None) -> str:
    """ "0.022", "< 0.001", "0.041, fragile"."""
    if value is None:
        return ""
    shown = "< 0.001" if value < 0.001 else f"{value:.3f}" if value < 0.1 else f"{value:.2f}"
    return f"{shown}, fragile" if FRAGILE[0] <= value <= FRAGILE[1] else shown
