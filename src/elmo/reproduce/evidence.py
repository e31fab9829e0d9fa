"""Whether scores bear out a claim: a difference of means, beside how much chance alone moves such a difference."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

AGREES, DISAGREES, WITHIN = "agrees", "does not agree", "within the spread"

Kind = Literal["more", "as much"]


@dataclass(frozen=True)
class Difference:
    """A mean and the standard deviation of what it is the mean of."""

    mean: float
    spread: float | None
    """How much the difference of single trainings varies; None with one seed."""

    def verdict(self, kind: Kind = "more") -> str:
        """For "more": `AGREES` or `DISAGREES` if the mean is farther from 0 than the spread, else `WITHIN`.

        For "as much": `AGREES` unless the mean lies below 0 by more than the spread. One seed shows no spread, and
        the verdict says so.
        """
        if self.spread is None:
            return (AGREES if self.mean > 0 or (kind == "as much" and self.mean == 0) else DISAGREES) + " by one seed"
        if self.mean < -self.spread:
            return DISAGREES
        return AGREES if kind == "as much" or self.mean > self.spread else WITHIN

    def shown(self, digits: int = 2) -> str:
        """ "+1.30, spread 0.40"."""
        spread = "one seed shows no spread" if self.spread is None else f"spread {self.spread:.{digits}f}"
        return f"{self.mean:+.{digits}f}, {spread}"


def contrast(terms: Sequence[tuple[int, dict[str, Any]]]) -> Difference:
    """The sum of summaries (`seeds.summarize`), each times its sign.

    Trainings of different systems are independent, so the variances of single trainings add up.
    """
    mean = math.fsum(sign * summary["mean"] for sign, summary in terms)
    deviations = [summary["standard_deviation"] for _, summary in terms]
    if any(deviation is None for deviation in deviations):
        return Difference(mean, None)
    return Difference(mean, math.sqrt(math.fsum(deviation**2 for deviation in deviations)))


def over_seeds(values: Sequence[float]) -> Difference:
    """Of a difference that each seed gives by itself."""
    return Difference(statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None)


def error_reduction(baseline: float, better: float) -> float | None:
    """Percent of the baseline's errors (what is missing to 100) that are gone; None if it makes none."""
    return None if baseline >= 100 else 100 * (better - baseline) / (100 - baseline)
