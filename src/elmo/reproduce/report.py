"""A table or figure in words: Markdown that reads well in a terminal too."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from elmo.reproduce import paper
from elmo.reproduce.claims import Judged
from elmo.reproduce.evidence import error_reduction
from elmo.reproduce.outcomes import Outcome, data_of

TITLES = {
    "table2": "Which layers ELMo is made of (table 2 of the paper)",
    "table3": "Where ELMo is put (table 3 of the paper)",
    "figure1": "How much training data (figure 1 of the paper)",
    "figure2": "Which layers the mixes use (figure 2 of the paper)",
}

Row = Sequence[str]

_DIGITS = {"weights": 3, "epochs": 1}


def markdown(experiment: str, outcomes: list[Outcome], judged: list[Judged], facts: list[str]) -> str:
    """The whole page. `facts`: lines that say what was trained on what."""
    table = {"table2": _layers_table, "table3": _layers_table, "figure1": _shares_table, "figure2": _weights_table}
    parts = [
        f"# {TITLES[experiment]}",
        "\n".join(f"- {fact}" for fact in facts),
        "\n".join(aligned(table[experiment](experiment, outcomes))),
        _legend(experiment, outcomes),
        *_reductions(outcomes),
        "## What the paper says, and what came out here",
        "\n".join(f"- {sentence(claim, list(found))}" for claim, found in groupby(judged, lambda one: one.claim)),
        "The spread of a difference is that of single trainings: the root of the sum of both sample variances (of a "
        "figure that each seed gives by itself, its sample standard deviation). A difference within it may be chance.",
    ]
    return "\n\n".join(parts) + "\n"


def sentence(claim: str, judged: Sequence[Judged]) -> str:
    """A claim, and its verdict on each data it was measured on."""
    verdicts = [
        f"{one.measured} **{one.verdict}** ({one.difference.shown(_DIGITS.get(one.measured, 2))})" for one in judged
    ]
    return f"{claim[0].upper()}{claim[1:]}: {'; '.join(verdicts)}."


def aligned(rows: Sequence[Row]) -> list[str]:
    """A Markdown table, the first row its head, with columns of equal width."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    return [lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]]


def shown(summary: dict[str, Any], digits: int = 2) -> str:
    """ "50.13 ± 0.42"; without a spread if there was one seed."""
    spread = summary["standard_deviation"]
    return f"{summary['mean']:.{digits}f}" + ("" if spread is None else f" ± {spread:.{digits}f}")


def reductions(outcomes: list[Outcome]) -> list[dict[str, Any]]:
    """The share of the baseline's errors that each system with ELMo is rid of, in percent, by data."""
    baselines = {outcome.system.share: outcome for outcome in outcomes if outcome.system.name == "baseline"}
    found = []
    for outcome in outcomes:
        baseline = baselines.get(outcome.system.share)
        if baseline is None or baseline is outcome:
            continue
        line: dict[str, Any] = {"system": outcome.system.name, "share": outcome.system.share}
        for data in data_of(outcomes):
            line[data] = error_reduction(baseline.score(data)["mean"], outcome.score(data)["mean"])
        found.append(line)
    return found


def _layers_table(experiment: str, outcomes: list[Outcome]) -> list[Row]:
    """Tables 2 and 3: ours, and the paper's three tasks beside them."""
    metric, data = outcomes[0].summary["metric"], data_of(outcomes)
    tasks = list(paper.TABLES[experiment][outcomes[0].system.name])
    head = ["ELMo" if experiment == "table3" else "layers", *(f"{name} {metric}" for name in data)]
    rows: list[Row] = [[*head, *(f"paper: {task} dev" for task in tasks)]]
    for outcome in outcomes:
        own = [shown(outcome.score(name)) for name in data]
        numbers = paper.TABLES[experiment][outcome.system.name]
        rows.append([outcome.system.label, *own, *(f"{numbers[task]:.1f}" for task in tasks)])
    return rows


def _shares_table(experiment: str, outcomes: list[Outcome]) -> list[Row]:
    """Figure 1: a line for each share, without and with ELMo."""
    metric, data = outcomes[0].summary["metric"], data_of(outcomes)
    rows: list[Row] = [
        ["training data", *(f"{name} {metric}, {which}" for name in data for which in ("baseline", "+ ELMo"))]
    ]
    for share in sorted({outcome.system.share for outcome in outcomes}):
        own = {outcome.system.name: outcome for outcome in outcomes if outcome.system.share == share}
        rows.append(
            [f"{share:g} %", *(shown(own[which].score(name)) for name in data for which in ("baseline", "elmo"))]
        )
    return rows


def _weights_table(experiment: str, outcomes: list[Outcome]) -> list[Row]:
    """Figure 2: a line for each mix."""
    data = data_of(outcomes)
    layers = layer_names(outcomes)
    rows: list[Row] = [
        ["ELMo", "mix at the", *layers, "gamma", *(f"{name} {outcomes[0].summary['metric']}" for name in data)]
    ]
    for outcome in outcomes:
        for mix in outcome.mixes():
            weights = [shown(weight, 3) for weight in mix["weights"]]
            scores = [shown(outcome.score(name)) for name in data]
            rows.append([outcome.system.label, mix["placement"], *weights, shown(mix["gamma"], 3), *scores])
    return rows


def layer_names(outcomes: list[Outcome]) -> list[str]:
    """The biLM's layers for people, the token layer first."""
    num_layers = len(outcomes[0].mixes()[0]["weights"])
    return ["token layer", *(f"LSTM layer {number}" for number in range(1, num_layers))]


def _legend(experiment: str, outcomes: list[Outcome]) -> str:
    seeds = ", ".join(map(str, outcomes[0].summary["seeds"]))
    own = f"Mean ± sample standard deviation over the seeds {seeds}." if "," in seeds else f"One seed: {seeds}."
    if experiment in paper.PICTURES:
        return f"{own} {paper.PICTURES[experiment]} ({paper.SOURCE}.)"
    return f"{own} The paper's columns: F1 of SQuAD and SRL, accuracy of SNLI ({paper.SOURCE})."


def _reductions(outcomes: list[Outcome]) -> list[str]:
    """How many of the baseline's errors are gone, beside the paper's table 1 for the same task."""
    lines = []
    labels = {outcome.system.name: outcome.system.label for outcome in outcomes}
    several = len({outcome.system.share for outcome in outcomes}) > 1
    for line in reductions(outcomes):
        own = ", ".join(f"{data} {value:+.1f} %" for data, value in line.items()
                        if data not in ("system", "share") and value is not None)  # fmt: skip
        where = f"{labels[line['system']]}, {line['share']:g} % of the data" if several else labels[line["system"]]
        lines.append(f"- {where}: {own}")
    if not lines:
        return []
    known = paper.TABLE_1.get(outcomes[0].summary["task"])
    if known is not None:
        lines.append(
            f"- the paper's table 1 ({known.data}, test): {known.baseline} without ELMo, {known.elmo} ± "
            f"{known.deviation:.2f} with it: {known.error_reduction:+.1f} %"
        )
    return ["## Relative error reduction against the baseline", "\n".join(lines)]
