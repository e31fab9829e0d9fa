"""The tables of docs/reproduction.md, made of the records in paper/records/reproduction.

A block of reproduction.md that begins with `<!-- TABLE -->` (table1 to table3, figure1, figure2, taglm, bilms) and ends
with `<!-- end -->` is made of the records SECTION.TABLE.json, as `elmo-paper tables --record` wrote them;
everything else is left as it is. The sections are the paper's six tasks, or those named after the table:
`<!-- table1 wnut17 gum -->`. bilms.toml names the biLMs by their hashes. A record with fewer seeds than planned is
marked as partial. `<!-- longer -->` compares the records of plan.toml with those of longer.toml, and with
SECTION-shorter where half the epochs were tried first. `<!-- unseen -->` shows what `elmo-paper unseen` found.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from elmo.errors import ConfigError
from elmo.tasks.rules import best_rule
from elmo_paper.pages.paper_rows import ORDER, bilm_name, partial
from elmo_paper.pages.record_page import cautions, sentence
from elmo_paper.pages.tables import aligned, data_name, metric_name, rows, score_name, shown, with_interval
from elmo_paper.places import RECORDS
from elmo_paper.reproduce.record import ExperimentRecord

_NONE = "No record yet."
_BLOCK = re.compile(
    r"(<!-- (table\d|figure\d|taglm|bilms|longer|unseen)((?: [\w-]+)*) -->\n).*?(<!-- end -->)", flags=re.DOTALL
)


def records_of(table: str, folder: Path = RECORDS, sections: Sequence[str] = ORDER) -> dict[Path, ExperimentRecord]:
    """The records of a table by their files, in the order of the sections."""
    paths = [folder / f"{section}.{table}.json" for section in sections]
    return {path: json.loads(path.read_text(encoding="utf-8")) for path in paths if path.is_file()}


def filled(page: str, folder: Path = RECORDS) -> str:
    """The page with every block made anew."""

    def made(found: re.Match[str]) -> str:
        begin, table, sections, end = found.groups()
        own = sections.split() or ORDER
        block = _longer(folder, own) if table == "longer" else _block(table, records_of(table, folder, own))
        return f"{begin}{block}\n{end}"

    return _BLOCK.sub(made, page)


def _block(table: str, records: Mapping[Path, ExperimentRecord]) -> str:
    if not records:
        return _NONE
    made = {"table1": _table1, "unseen": _unseen}.get(table, _one_by_one)
    return "\n".join(made(list(records.values())))


def _table1(records: Sequence[ExperimentRecord]) -> Iterator[str]:
    head = ["task, data", "biLM", "seeds", "score", "best rule", "without ELMo", "with ELMo", "gain [95 % interval]"]
    yield from aligned([head, *(row for record in records for row in _rows(record))])
    yield ""
    yield "A rule isn't trained: it uses words or labels of the training data. Mean ± standard deviation over seeds."
    if any(partial(record) for record in records):
        yield ""
        yield '*Rows marked "partial" don\'t have all planned seeds yet; with one seed there is no interval.*'
    yield ""
    for record in records:
        yield from _claims(record, f"{data_name(record)}: ")
        yield from (f"- {data_name(record)}: {caution}" for caution in cautions(record))


def _rows(record: ExperimentRecord) -> Iterator[list[str]]:
    """One for the test data, and one for second ones, which the same models were scored on."""
    yield _row(record, record["decided_on"])
    if "second_name" in record:
        name = f"{record['second_name']}, by the models of {record['name']}"
        yield _row({**record, "name": name}, "second_test")


def _row(record: ExperimentRecord, data: str) -> list[str]:
    by_name = {system["system"]: system for system in record["systems"]}
    (gain,) = record["gains"]
    rule = best_rule(record["rules"], data)
    return [
        data_name(record) + partial(record),
        bilm_name(by_name["elmo"]),
        str(len(record["seeds"])),
        score_name(data, record["metric"]),
        "" if rule is None else f"{rule[1]:.2f}",
        shown(by_name["baseline"][data]),
        shown(by_name["elmo"][data]),
        with_interval(gain[data]["difference"], gain[data]["interval"]),
    ]


def _one_by_one(records: Sequence[ExperimentRecord]) -> Iterator[str]:
    for record in records:
        yield from (f"### {data_name(record)}{partial(record)}", "", *aligned(rows(record)), "")
        yield from (*_claims(record), *(f"- {caution}" for caution in cautions(record)), "")


def _longer(folder: Path, sections: Sequence[str]) -> str:
    """Of each task with a record of half or twice the epochs, the dev scores of the seed that all of them have."""
    found = [["task, data", "score", "seed", "epochs at most", "without ELMo", "with ELMo", "gain"]]
    for section in sections:
        names = (f"{section}-shorter", section, f"{section}-longer")
        records = list(records_of("table1", folder, names).values())
        if len(records) > 1:
            _require_one_bilm(section, records)
            seed = min(set.intersection(*(set(record["seeds"]) for record in records)))
            found += [_row_of_epochs(record, seed) for record in records]
    return "\n".join(aligned(found)) if len(found) > 1 else _NONE


def _require_one_bilm(section: str, records: Sequence[ExperimentRecord]) -> None:
    """ConfigError for records that differ in more than their epochs."""
    names = {bilm_name(system) for record in records for system in record["systems"] if system["system"] == "elmo"}
    if len(names) > 1:
        raise ConfigError(
            f"the records of {section} with different epochs are of {' and '.join(sorted(names))}: more than the "
            "epochs differs between them. Measure again, or remove the older ones."
        )


def _row_of_epochs(record: ExperimentRecord, seed: int) -> list[str]:
    place = record["seeds"].index(seed)
    scores = {system["system"]: system["dev"]["scores"][place] for system in record["systems"]}
    facts = [data_name(record), f"dev {metric_name(record['metric'])}", str(seed), str(record["settings"]["epochs"])]
    without, with_elmo = scores["baseline"], scores["elmo"]
    return [*facts, f"{without:.2f}", f"{with_elmo:.2f}", f"{with_elmo - without:+.2f}"]


def _unseen(records: Sequence[ExperimentRecord]) -> Iterator[str]:
    """Of each task, the gains on examples without and with a word that the training data don't have."""
    found = [["task, data", "score", "words", "examples", "without ELMo", "with ELMo", "gain [95 % interval]"]]
    found[0].append("difference of the gains [95 % interval]")
    for record in records:
        for data, own in record["data"].items():
            between = own["difference_of_gains"]
            for group, named in (("seen", "all known"), ("new", "a new one")):
                scored = own["groups"][group]
                gain = with_interval(scored["gain"]["difference"], scored["gain"]["interval"])
                last = with_interval(between["difference"], between["interval"]) if group == "new" else ""
                facts = [data_name(record), f"{data} {metric_name(record['metric'])}", named, f"{scored['examples']:,}"]
                found.append([*facts, shown(scored["baseline"]), shown(scored["elmo"]), gain, last])
    yield from aligned(found)


def _claims(record: ExperimentRecord, before: str = "") -> Iterator[str]:
    for _, found in groupby(record["claims"], key=lambda one: one["claim"]):
        yield f"- {before}{sentence(list(found))}"
