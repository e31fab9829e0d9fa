"""The tables of a page as rows of text, and what things are called on pages and pictures."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from elmo.tasks.train.job import SCORED
from elmo_paper.reproduce.record import ExperimentRecord

Cells = Sequence[str]


def rows(record: ExperimentRecord) -> list[Cells]:
    """The table of the record's experiment, its head first."""
    tables = {"table1": _gains_table, "figure1": _shares_table, "figure2": _weights_table}
    return tables.get(record["experiment"], _layers_table)(record)


def aligned(table: Sequence[Cells]) -> list[str]:
    """A Markdown table, the first row its head, with columns of equal width."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in table
    ]
    return [lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]]


def shown(summary: dict[str, Any], digits: int = 2) -> str:
    """ "50.13 ± 0.42"; without a spread if there was one seed."""
    spread = summary.get("standard_deviation")
    return f"{summary['mean']:.{digits}f}" + ("" if spread is None else f" ± {spread:.{digits}f}")


# The largest difference of two scores in percent.
_MOST = 100.0


def with_interval(difference: float, interval: Sequence[float] | None, digits: int = 2, *, most: float = _MOST) -> str:
    """ "+3.05 [+0.91, +5.20]"; an interval beyond `most`, the largest difference that there can be, is not shown."""
    if interval is not None and not -most <= interval[0] <= interval[1] <= most:
        return f"{difference:+.{digits}f} [too little data for an interval]"
    reach = "" if interval is None else f" [{interval[0]:+.{digits}f}, {interval[1]:+.{digits}f}]"
    return f"{difference:+.{digits}f}{reach}"


DIGITS = {"weights": 3, "epochs": 1}
"""After the point, of differences that are measured on something else than scores."""


def measured(claim: Mapping[str, Any]) -> str:
    """A claim's difference with its interval, whose range is known of scores alone."""
    digits = DIGITS.get(claim["measured_on"])
    most = _MOST if digits is None else math.inf
    return with_interval(claim["difference"], claim["interval"], digits or 2, most=most)


def data_in(record: ExperimentRecord) -> list[str]:
    """Which data there are scores on: of "dev", "test" and "second_test"."""
    return [data for data in SCORED if all(data in system for system in record["systems"])]


def _gains_table(record: ExperimentRecord) -> list[Cells]:
    """Table 1: without and with ELMo, and the paper's line for the same task."""
    metric, data = metric_name(record["metric"]), data_in(record)
    by_name = {system["system"]: system for system in record["systems"]}
    head = ["", f"baseline, {metric}", f"+ ELMo, {metric}", "gain [95 % interval]", "relative error reduction"]
    table: list[Cells] = [head]
    (gain,) = record["gains"]
    for name in data:
        reduction = gain[name]["error_reduction"]
        table.append(
            [
                f"here, {name.replace('_', ' ')}",
                shown(by_name["baseline"][name]),
                shown(by_name["elmo"][name]),
                with_interval(gain[name]["difference"], gain[name]["interval"]),
                "" if reduction is None else f"{reduction:.1f} %",
            ]
        )
    table += [[f"here, {name.replace('_', ' ')}: {rule['label']}", f"{rule[name]:.2f}", "", "", ""]
              for rule in record["rules"] for name in data]  # fmt: skip
    known = record["paper"]["table1"]
    if known is not None:
        spread = "" if known["deviation"] is None else f" ± {known['deviation']:.2f}"
        numbers = [f"{known['baseline']}", f"{known['elmo']}{spread}", f"+{known['gain']}"]
        table.append([f"paper, test ({known['data']})", *numbers, f"{known['error_reduction']} %"])
    return table


def _layers_table(record: ExperimentRecord) -> list[Cells]:
    """Tables 2 and 3 with the paper's three tasks beside ours, and the experiments without a table in the paper."""
    metric, data, experiment = record["metric"], data_in(record), record["experiment"]
    gains = {gain["system"]: gain for gain in record["gains"]}
    decisive = record["decided_on"]
    of_paper = record["paper"]["table"] or {}
    papers = list(of_paper.get(record["systems"][0]["system"], ()))
    head = [{"table3": "ELMo", "bilms": "biLM"}.get(experiment, "layers"), *(score_name(name, metric) for name in data)]
    head += [f"gain on {decisive} [95 % interval]"] if gains else []
    table: list[Cells] = [[*head, *(f"paper: {task} dev" for task in papers)]]
    for rule in record["rules"]:
        table.append([rule["label"], *(f"{rule[name]:.2f}" for name in data), *[""] * (bool(gains) + len(papers))])
    for system in record["systems"]:
        gain = gains.get(system["system"], {}).get(decisive)
        gained = [with_interval(gain["difference"], gain["interval"]) if gain else ""] if gains else []
        own = [shown(system[name]) for name in data]
        table.append([system["label"], *own, *gained, *(f"{of_paper[system['system']][task]:.1f}" for task in papers)])
    return table


def _shares_table(record: ExperimentRecord) -> list[Cells]:
    metric, data, decisive = record["metric"], data_in(record), record["decided_on"]
    which = ("baseline", "+ ELMo")
    head = ["training data", *(f"{score_name(name, metric)}, {one}" for name in data for one in which)]
    table: list[Cells] = [[*head, f"gain on {decisive} [95 % interval]"]]
    gains = {gain["share"]: gain for gain in record["gains"]}
    for rule in record["rules"]:
        table.append([rule["label"], *(text for name in data for text in (f"{rule[name]:.2f}", "")), ""])
    for share in sorted({system["share"] for system in record["systems"]}):
        own = {system["system"]: system for system in record["systems"] if system["share"] == share}
        scores = [shown(own[one][name]) for name in data for one in ("baseline", "elmo")]
        gain = gains[share][decisive]
        table.append([f"{share:g} %", *scores, with_interval(gain["difference"], gain["interval"])])
    return table


def _weights_table(record: ExperimentRecord) -> list[Cells]:
    data = data_in(record)
    layers = layer_names(len(record["systems"][0]["mixes"][0]["weights"]))
    scores = [score_name(name, record["metric"]) for name in data]
    table: list[Cells] = [["ELMo", "mix at the", *layers, "gamma", *scores]]
    for system in record["systems"]:
        for mix in system["mixes"]:
            weights = [shown(weight, 3) for weight in mix["weights"]]
            own = [shown(system[name]) for name in data]
            table.append([system["label"], mix["placement"], *weights, shown(mix["gamma"], 3), *own])
    return table


TITLES = {
    "table1": "What ELMo adds",
    "table2": "Which layers ELMo is made of",
    "table3": "Where ELMo is put",
    "figure1": "How much training data",
    "figure2": "Which layers the mixes use",
    "gamma": "Whether ELMo is scaled by gamma",
    "bilms": "Which biLM",
    "taglm": "ELMo beside TagLM",
}
"""By experiment."""

_IN_PAPER = {name: name.replace("table", "table ").replace("figure", "figure ") for name in TITLES} | {
    "gamma": "supplement A.2",
    "bilms": "section 4, supplement A.1",
    "taglm": "section 4",
}
_METRICS = {
    "f1": "F1",
    "micro_f1": "micro F1",
    "macro_f1": "macro F1",
    "average_f1": "average F1",
    "em": "exact match",
    "exact_match": "exact match",
}
_TASKS = {
    "ner": "named entities",
    "pos": "parts of speech",
    "sst": "sentiment",
    "snli": "textual entailment",
    "squad": "question answering",
    "srl": "semantic roles",
    "coref": "coreference",
}


def title(experiment: str) -> str:
    """ "Which layers ELMo is made of (table 2 of the paper)"."""
    return f"{TITLES[experiment]} ({_IN_PAPER[experiment]} of the paper)"


def score_name(data: str, metric: str) -> str:
    """ "second test F1" for "second_test" and "f1"."""
    return f"{data.replace('_', ' ')} {metric_name(metric)}"


def data_name(record: dict[str, Any]) -> str:
    """ "Broad Twitter Corpus (named entities)"; the task alone if the data set has no name."""
    task = _TASKS[record["task"]] if record["task"] in _TASKS else record["task"]
    return f"{record['name']} ({task})" if record.get("name") else task


def metric_name(metric: str) -> str:
    """ "F1" for "f1"."""
    return _METRICS.get(metric, metric.replace("_", " "))


def layer_names(number: int) -> list[str]:
    """Of a biLM with that many layers, the token layer among them."""
    return ["token layer", *(f"LSTM layer {layer}" for layer in range(1, number))]
