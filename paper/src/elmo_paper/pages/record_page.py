"""A record as a page: Markdown that reads well in a terminal too."""

from collections.abc import Iterator, Sequence

from elmo.tasks.rules import best_rule
from elmo.tasks.train.task_data import remarks_on_trained_data
from elmo_paper.pages.claims import CORRECTED, claims_table, needs_corrected, rows_of_record
from elmo_paper.pages.tables import aligned, data_name, rows, title
from elmo_paper.reproduce.record import ExperimentRecord


def markdown(record: ExperimentRecord, facts: Sequence[str]) -> str:
    """The whole page. `facts`: lines about the data, models and number of trainings."""
    decided = list(rows_of_record(record))
    parts = [
        f"# {title(record['experiment'])}: {data_name(record)}",
        "\n".join(f"- {fact}" for fact in facts),
        "\n".join(aligned(rows(record))),
        _legend(record),
        "## The paper's claims",
        "\n".join(claims_table(decided, name_data=False)),
        *([CORRECTED] if needs_corrected(decided) else []),
        *cautions(record),
        _method(record),
    ]
    return "\n\n".join(parts) + "\n"


def cautions(record: ExperimentRecord) -> list[str]:
    """What makes the scores mean less: held-out data that were trained on, and rules that are as good as a system."""
    remembered = remarks_on_trained_data(record.get("trained_on", {}))
    on_rules = (caution for data in (record["decided_on"], "second_test") for caution in _on_rules(record, data))
    return [*(f"**Nothing follows from these scores**: {remark}" for remark in remembered), *on_rules]


def _on_rules(record: ExperimentRecord, data: str) -> Iterator[str]:
    """A sentence if a rule without learning is as good as a system that was trained on the largest share of the data.

    If that is the baseline, no comparison with it means anything; otherwise those with that system tell about its
    training, and little about what distinguishes it.
    """
    best = best_rule(record["rules"], data)
    if best is None:
        return
    rule, score = best
    largest = max(system["share"] for system in record["systems"])  # of figure 1; all others have one share
    whole = [system for system in record["systems"] if data in system and system["share"] == largest]
    below = [system for system in whole if system[data]["mean"] <= score]
    if not below:
        return
    is_general = below == whole or any(system["system"] == "baseline" for system in below)
    found = " and ".join(f'"{system["label"]}" {system[data]["mean"]:.2f}' for system in below)
    what = " and ".join(f'"{system["label"]}"' for system in below)
    told, follows = (
        ("Nothing follows from these scores", "The models have not learned the task.")
        if is_general
        else (f"Take {what} with care", "What has not learned the task may do better with other settings.")
    )
    yield f'**{told}**: on {data.replace("_", " ")} data the rule "{rule}" scores {score:.2f}, {found}. {follows}'


def _legend(record: ExperimentRecord) -> str:
    seeds = ", ".join(map(str, record["seeds"]))
    own = f"Mean ± sample standard deviation over the seeds {seeds}." if "," in seeds else f"One seed: {seeds}."
    of_paper = record["paper"]
    if of_paper["says"]:
        return f"{own} {of_paper['says']} ({of_paper['source']}.)"
    if of_paper["table"]:
        return f"{own} The paper's columns: F1 of SQuAD and SRL, accuracy of SNLI ({of_paper['source']})."
    return f"{own} The paper: {of_paper['source']}, table 1."


def _method(record: ExperimentRecord) -> str:
    bootstrap = record["bootstrap"]
    if bootstrap is None:
        chance = (
            "Intervals (95 %) and p-values cover the seeds alone, by Welch's t-test: which examples happened to be in "
            "the test data is not covered, so the intervals are too narrow."
        )
    else:
        units = bootstrap["units"][record["decided_on"]]
        if units < 2:
            return (
                f"The {record['decided_on']} data are one unit (a document, an article, a premise), so nothing tells "
                "what other examples would give: no score has an interval, and no claim about scores is decided."
            )
        chance = (
            f"Intervals (95 %) and p-values cover seeds and test examples: a paired bootstrap over {units:,} units of "
            f"{record['decided_on']} data ({bootstrap['draws']:,} draws, random seed {bootstrap['seed']}) plus the "
            "variance over seeds, with Student's t distribution and Satterthwaite's degrees of freedom."
        )
    decided = f"Claims about scores are decided on {record['decided_on']} data"
    return (
        f"{chance} {decided}; all p-values of this page are corrected together by Holm's method, and a claim is "
        "decided if its corrected p-value is at most 0.05. If nothing differed, at most 5 % of such pages would "
        "decide any of their claims."
    )
