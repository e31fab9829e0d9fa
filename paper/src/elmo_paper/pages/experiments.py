"""Blocks of docs/reproduction.md and docs/paper.md that show the scores of experiments."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from elmo.errors import ConfigError
from elmo.tasks.rules import best_rule
from elmo_paper.pages.claims import (
    CORRECTED,
    NOT_YET,
    Row,
    best_epochs,
    claims_table,
    needs_corrected,
    partial,
    shown_p,
)
from elmo_paper.pages.record_page import cautions
from elmo_paper.pages.records import (
    ANALYSIS_OF,
    HEADINGS,
    ORDER,
    Folders,
    bilm_name,
    other_headings,
    read,
    rows_of,
)
from elmo_paper.pages.tables import (
    Cells,
    aligned,
    data_in,
    data_name,
    metric_name,
    rows,
    score_name,
    shown,
    with_interval,
)
from elmo_paper.reproduce import paper
from elmo_paper.reproduce.record import ExperimentRecord
from elmo_paper.reproduce.verdicts import holm

_NONE = "No record yet."


def scores(table: str, sections: Sequence[str], folders: Folders) -> Iterator[str]:
    """`<!-- table2 ner -->`: the systems of each section, one record after the other; table 1 as one table."""
    records = folders.named(table, *(sections or ORDER))
    if not records:
        yield _NONE
    elif table == "table1":
        yield from _in_one_table(records)
    else:
        for record in records:
            yield from (f"### {data_name(record)}{partial(record)}", "", *aligned(rows(record)), "")
            yield from _listed(cautions(record))


def _listed(sentences: Sequence[str]) -> list[str]:
    return [*(f"- {one}" for one in sentences), ""] if sentences else []


def _in_one_table(records: Sequence[ExperimentRecord]) -> Iterator[str]:
    head = ["task, data", "biLM", "seeds", "score", "best rule", "without ELMo", "its best epochs"]
    yield from aligned([[*head, "with ELMo", "gain [95 % interval]"], *(row for one in records for row in _rows(one))])
    yield ""
    yield "A rule isn't trained: it uses words or labels of the training data. Mean ± standard deviation over seeds."
    if any(partial(record) for record in records):
        yield ""
        yield '*Rows marked "partial" don\'t have all planned seeds yet; with one seed there is no interval.*'
    found = [f"{data_name(record)}: {caution}" for record in records for caution in cautions(record)]
    yield from ("", *_listed(found)[:-1]) if found else ()


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
        best_epochs(by_name["baseline"]),
        shown(by_name["elmo"][data]),
        with_interval(gain[data]["difference"], gain[data]["interval"]),
    ]


def longer(_: str, sections: Sequence[str], folders: Folders) -> Iterator[str]:
    """`<!-- longer -->`: mean scores of the seeds that were trained for both numbers of epochs, task by task."""
    found: list[Cells] = [["task, data", "score", "seeds", "epochs at most", "without ELMo", "with ELMo", "gain"]]
    for section in sections or ORDER:
        records = folders.named("table1", section, f"{section}-longer")
        if len(records) > 1:
            _require_one_bilm(section, records)
            seeds = sorted(set.intersection(*(set(record["seeds"]) for record in records)))
            for data in data_in(records[0]):
                if all(data in data_in(record) for record in records):
                    found += [[data_name(records[0]), *_row_of_epochs(record, seeds, data)] for record in records]
    yield from aligned(found) if len(found) > 1 else [_NONE]


def _require_one_bilm(section: str, records: Sequence[ExperimentRecord]) -> None:
    """ConfigError for records that differ in more than their epochs."""
    names = {bilm_name(system) for record in records for system in record["systems"] if system["system"] == "elmo"}
    if len(names) > 1:
        raise ConfigError(
            f"the records of {section} with different epochs are of {' and '.join(sorted(names))}: more than the "
            "epochs differs between them. Measure again, or remove the older ones."
        )


def _row_of_epochs(record: ExperimentRecord, seeds: Sequence[int], data: str) -> list[str]:
    places = [record["seeds"].index(seed) for seed in seeds]
    own = {one["system"]: fmean(one[data]["scores"][place] for place in places) for one in record["systems"]}
    facts = [score_name(data, record["metric"]), ", ".join(map(str, seeds)), str(record["settings"]["epochs"])]
    without, with_elmo = own["baseline"], own["elmo"]
    return [*facts, f"{without:.2f}", f"{with_elmo:.2f}", f"{with_elmo - without:+.2f}"]


def unseen(_: str, sections: Sequence[str], folders: Folders) -> Iterator[str]:
    """`<!-- unseen -->`: the gains on examples without and with a word that the training data don't have."""
    found: list[Cells] = [["task, data", "score", "words", "examples", "without ELMo", "with ELMo"]]
    found[0] = [*found[0], "gain [95 % interval]", "difference of the gains [95 % interval]"]
    for record in folders.named("unseen", *(sections or ORDER)):
        for data, own in record["data"].items():
            between = own["difference_of_gains"]
            for group, named in (("seen", "all known"), ("new", "a new one")):
                scored = own["groups"][group]
                gain = with_interval(scored["gain"]["difference"], scored["gain"]["interval"])
                last = with_interval(between["difference"], between["interval"]) if group == "new" else ""
                facts = [data_name(record), score_name(data, record["metric"]), named, f"{scored['examples']:,}"]
                found.append([*facts, shown(scored["baseline"]), shown(scored["elmo"]), gain, last])
    yield from aligned(found)


def gains(_: str, __: Sequence[str], folders: Folders) -> Iterator[str]:
    """`<!-- gains -->`: table 1, all tasks and data sets, with p-values corrected for one task and for the table."""
    found = rows_of("table1", folders)
    values = iter(holm([row.p_value for row in found if row.p_value is not None]))
    head = ["task, data", "the paper", "here", "gain [95 % interval]", "errors removed (the paper's)", "biLM"]
    table: list[Cells] = [[*head, "corrected p", "over all rows", "verdict, record"]]
    for row in found:
        over_all = shown_p(None if row.p_value is None else next(values))
        cells = [""] * 5 if row.verdict == NOT_YET else _gain(folders, row)
        table.append([row.data, *cells, shown_p(row.corrected_p), over_all, row.shown_verdict])
    yield from aligned(table)
    yield from ("", "![Table 1: scores without and with ELMo, and the gain](reproduction/table1.svg)")


def _gain(folders: Folders, row: Row) -> list[str]:
    record = read(folders.records / row.link.rpartition("/")[2])
    known, (gain,), data = record["paper"]["table1"], record["gains"], row.measured_on
    without, with_elmo = record["systems"]
    means = f"{without[data]['mean']:.1f} -> {with_elmo[data]['mean']:.1f} {metric_name(record['metric'])}"
    reduction = f"{round(gain[data]['error_reduction'])} % ({known['error_reduction']:.0f} %)"
    theirs = f"{known['baseline']} -> {known['elmo']}, {known['gain']:+g} ({known['data']})"
    return [theirs, means, row.ours, reduction, bilm_name(with_elmo)]


def as_printed(_: str, tables: Sequence[str], folders: Folders) -> Iterator[str]:
    """`<!-- scores table2 -->`: a row for each task of the paper and of ours, a column for each system, as printed."""
    (table,) = tables
    known, records = paper.TABLES[table], folders.of(table)
    labels = {one["system"]: one["label"] for record in records.values() for one in record["systems"]}
    found: list[Cells] = [["", *(labels.get(name, name) for name in known)]]
    for task in next(iter(known.values())):
        found.append([f"the paper: {task}", *(f"{of_task[task]:.1f}" for of_task in known.values())])
    for record in records.values():
        own = {one["system"]: one[record["decided_on"]]["mean"] for one in record["systems"]}
        found.append([f"here: {data_name(record)}", *(f"{own[name]:.1f}" for name in known)])
    yield from aligned(found)


def claims(_: str, tables: Sequence[str], folders: Folders) -> Iterator[str]:
    """`<!-- claims table2 -->`: what the paper says, what was found, verdicts, records, pictures."""
    (table,) = tables
    if table in paper.SAYS:
        yield from (paper.SAYS[table], "")
    found = rows_of(table, folders)
    yield from claims_table(found)
    if table == next((name for name in HEADINGS if needs_corrected(rows_of(name, folders))), None):
        yield from ("", CORRECTED)
    cautioned = [caution for record in folders.of(table).values() for caution in cautions(record)]
    yield from ("", *_listed(cautioned)[:-1]) if cautioned else ()
    pictures: Mapping[str, Any] = {f"{name}.{table}": data_name(one) for name, one in folders.of(table).items()}
    if table in _WHOLE:
        pictures = {table: _WHOLE[table]}
    for name, data in pictures.items():
        yield from ("", f"![{HEADINGS.get(table, table)}: {data}](reproduction/{name}.svg)")


_WHOLE = dict.fromkeys(ANALYSIS_OF, "all systems") | {"table7": "all texts"}
"""Tables with one picture, and what it shows."""


def others(_: str, __: Sequence[str], folders: Folders) -> Iterator[str]:
    """`<!-- others -->`: the claims of every record that no other block shows."""
    for name, heading in other_headings(folders).items():
        yield from (f"## {heading}", "", *claims("claims", [name], folders), "")
