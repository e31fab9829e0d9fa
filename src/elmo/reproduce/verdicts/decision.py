"""Decisions about all claims of a table together: agrees, does not agree, or not decided.

The p-values are corrected by Holm's method. If nothing that a table compares differs, the chance that any of its claims
is decided is at most 5 %, however the claims depend on each other.

Source: Holm 1979, A Simple Sequentially Rejective Multiple Test Procedure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from elmo.reproduce.verdicts.difference import LEVEL, Difference

Verdict = Literal["agrees", "does not agree", "not decided"]
AGREES: Verdict = "agrees"
DISAGREES: Verdict = "does not agree"
UNDECIDED: Verdict = "not decided"


@dataclass(frozen=True)
class Decision:
    """What became of one claim."""

    verdict: Verdict
    corrected_p: float | None
    """None if the difference has no p-value."""


def decide(differences: Sequence[Difference]) -> list[Decision]:
    """One decision for each difference; the claims are that they are larger than their thresholds.

    A difference without a p-value (one seed) is not decided and doesn't count in the correction.
    """
    known = [one.p_value for one in differences if one.p_value is not None]
    corrected = iter(holm(known))
    return [
        Decision(UNDECIDED, None) if one.p_value is None else _decision(one, next(corrected)) for one in differences
    ]


def holm(p_values: Sequence[float]) -> list[float]:
    """The corrected p-values, in the order given; at most 1."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    corrected, largest = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * p_values[place]))
        corrected[place] = largest
    return corrected


def _decision(difference: Difference, corrected_p: float) -> Decision:
    if corrected_p > 1 - LEVEL:
        return Decision(UNDECIDED, corrected_p)
    return Decision(AGREES if difference.mean > difference.threshold else DISAGREES, corrected_p)
