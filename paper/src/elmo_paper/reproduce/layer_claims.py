"""What the paper says about tables 4 to 6, and whether a record of an analysis agrees.

Each claim is about one difference, which is above 0 where the claim holds, and is decided if the difference's 95 %
interval excludes 0. Claims about one table aren't corrected together, as those about tasks are (`verdicts`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from elmo_paper.analysis.record import Record
from elmo_paper.reproduce import paper
from elmo_paper.reproduce.verdicts import AGREES, DISAGREES, UNDECIDED, Verdict

Measured = tuple[float, float, float]
"""A difference, and the ends of its 95 % interval."""


@dataclass(frozen=True)
class LayerClaim:
    """A claim, the paper's difference as text, and ours; None where the record lacks a system."""

    claim: str
    paper: str
    ours: Measured | None

    @property
    def verdict(self) -> Verdict | None:
        """None for a claim that wasn't measured."""
        if self.ours is None:
            return None
        _, low, high = self.ours
        return UNDECIDED if low <= 0 <= high else AGREES if low > 0 else DISAGREES


def layer_claims(table: str, record: Record) -> list[LayerClaim]:
    """All claims about "table4", "table5" or "table6"; none for a record without a biLM of two LSTM layers."""
    rows = {(row["encoder"], row["layer"]): row for row in record["systems" if table == "table5" else "rows"]}
    if ("biLM", "layer 2") not in rows:
        return []
    return list(_neighbors(record["words"], rows) if table == "table4" else _layers(table, rows))


def _neighbors(questions: Sequence[str], rows: Mapping[Any, Record]) -> Iterator[LayerClaim]:
    for question in questions:
        own, chance = (rows[name]["precision"].get(question) for name in (("biLM", "layer 2"), ("", "chance")))
        ours = _apart(own["1"], chance["1"]) if own and chance else None
        yield LayerClaim(f"layer 2 finds the same {question} more often than chance does", "2 of 2", ours)


def _layers(table: str, rows: Mapping[Any, Record]) -> Iterator[LayerClaim]:
    is_wsd = table == "table5"
    theirs = paper.TABLE_5 if is_wsd else paper.TABLE_6
    better, worse = ("layer 2", "layer 1") if is_wsd else ("layer 1", "layer 2")
    difference = theirs[f"biLM, {better}"] - theirs[f"biLM, {worse}"]
    over = rows["biLM", "layer 2"]["over_layer_below"]
    mean, *ends = (value if is_wsd else -value for value in over or (0.0, 0.0, 0.0))
    ours = (mean, min(ends), max(ends)) if over else None
    yield LayerClaim(f"{better} is better than {worse}", f"{difference:+.1f}", ours)
    if is_wsd:
        difference = theirs["biLM, layer 2"] - theirs["first sense"]
        mean, low, high = rows["biLM", "layer 2"]["minus_first_sense"]
        yield LayerClaim("layer 2 is better than the first sense", f"{difference:+.1f}", (mean, low, high))
    difference = theirs[f"biLM, {better}"] - max(score for name, score in theirs.items() if name.startswith("CoVe"))
    cove = [_scored(row) for (encoder, _), row in rows.items() if encoder == "CoVe"]
    ours = _apart(_scored(rows["biLM", better]), max(cove)) if cove else None
    yield LayerClaim(f"{better} is better than CoVe", f"{difference:+.1f}", ours)


Figure = tuple[float, tuple[float, float]]
"""With its 95 % interval."""


def _scored(row: Record) -> Figure:
    """The accuracy, or the F1 minus that of the first sense."""
    mean, low, high = (row["accuracy"], *row["interval"]) if "accuracy" in row else row["minus_first_sense"]
    return mean, (low, high)


def _apart(better: Figure, worse: Figure) -> Measured:
    """The difference of two figures that were measured apart: its interval excludes 0 if theirs don't overlap."""
    (mean, (low, high)), (other, (other_low, other_high)) = better, worse
    return mean - other, low - other_high, high - other_low
