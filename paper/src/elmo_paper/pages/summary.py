"""The summary of docs/paper.md: a row for each claim of the paper, a column for each task, a sign in each cell."""

import re
from collections.abc import Iterator, Sequence

from elmo_paper.pages.claims import NOT_YET, RISING, Row
from elmo_paper.pages.records import ANALYSIS_OF, HEADINGS, ORDER, Folders, other_headings, rows_of
from elmo_paper.pages.tables import Cells, aligned
from elmo_paper.reproduce.verdicts import AGREES, DISAGREES, UNDECIDED

SIGNS = {AGREES: "+", DISAGREES: "-", UNDECIDED: "open", RISING: "short", NOT_YET: "none"}
_TASKS = dict(zip(ORDER, ("questions", "entailment", "roles", "coreference", "names", "sentiment"), strict=True))
_SHORTER = (
    (r"at the (input|output) \(ELMo at both\), ", r"at \1 of both, "),
    (r"layers \(lambda ([\d.]+)\)", r"layers, lambda \1"),
    (r" \([^)]*\)", ""),
    ("with (.*) of the training data, ", r"with \1: "),
    (r"ELMo's gain is larger with (.*) of the data than with (.*)", r"gain with \1 > gain with \2"),
    (r"ELMo with (.*) of the data is as good as the baseline with", r"ELMo with \1 = baseline with"),
    (r"with 100 % of the data, ELMo reaches the baseline's best dev score in fewer epochs", "fewer epochs"),
    (r"no weight is farther.*", "the weights are balanced"),
    (r"the layers below the top have more weight than the top", "lower layers lead"),
    (r"the first LSTM layer has the largest weight", "LSTM layer 1 leads"),
    (r"layer 2 finds the (.*) more often than chance does", r"nearest has the \1 > chance"),
    (r"an epoch on a task's text lowers its perplexity", "lower perplexity"),
    (r" (?:beats?|is better than) ", " > "),
    (r"\b(?:ELMo at |ELMo of |the |a )", ""),
    (r"^SST-5, trained on phrases too$", "with phrases"),
    (r"^.*, at most (\d+ epochs)$", r"\1"),
    (r", (?:English|names|two classes)$", ""),
    (r"Korean film reviews", "Korean"),
)
"""What a claim or a data set is called at greater length -> in the summary."""


def summary(folders: Folders) -> Iterator[str]:
    """Two tables: what was tried with tasks, and what the layers alone know."""
    headings = HEADINGS | other_headings(folders)
    with_tasks = {name: heading for name, heading in headings.items() if name not in ANALYSIS_OF}
    yield from _table(with_tasks, [*ORDER], [*_TASKS.values()], folders)
    models = sorted({row.task for name in ANALYSIS_OF for row in rows_of(name, folders)})
    if models:
        yield ""
        yield from _table({name: headings[name] for name in ANALYSIS_OF}, models, models, folders)


def _table(headings: dict[str, str], columns: Sequence[str], heads: Sequence[str], folders: Folders) -> list[str]:
    table: list[Cells] = [["of the paper", "claim", *heads]]
    for name, heading in headings.items():
        found = [row for row in rows_of(name, folders) if not _is_of_table_1(name, row)]
        anchor = re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        first = f"[{heading.partition(':')[0]}](#{anchor})"
        for claim in dict.fromkeys(shorter(row.claim) for row in found if row.claim) or [""]:
            own = [row for row in found if not row.claim or shorter(row.claim) == claim]
            table.append([first, claim, *(_cell([row for row in own if row.task == column]) for column in columns)])
            first = ""
    return aligned(table)


def _is_of_table_1(table: str, row: Row) -> bool:
    """Whether it only repeats a claim of table 1."""
    return table == "bilms" and re.fullmatch("ELMo of .* beats the baseline", row.claim) is not None


def _cell(rows: Sequence[Row]) -> str:
    """The sign of the task's main data, and those of other data where they differ."""
    if not rows:
        return ""
    main = next((row for row in rows if not row.short), rows[0])
    others = [f"{shorter(row.short)}: {_sign(row)}" for row in rows if _sign(row) != _sign(main)]
    return _sign(main) + (f" ({', '.join(dict.fromkeys(others))})" if others else "")


def _sign(row: Row) -> str:
    """Where the paper's tasks differ, ours may agree with those in which the claim doesn't hold."""
    if row.verdict.startswith(f"{AGREES} with") and row.difference is not None and row.difference < 0:
        return f"+ (as {row.verdict.removeprefix(f'{AGREES} with ')})"
    return next((sign for verdict, sign in SIGNS.items() if row.verdict.startswith(verdict)), "")


def shorter(text: str) -> str:
    """A claim or a data set as the summary calls it."""
    for long, short in _SHORTER:
        text = re.sub(long, short, text)
    return text
