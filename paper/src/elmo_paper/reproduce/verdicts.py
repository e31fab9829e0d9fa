"""Whether a difference of mean scores is more than chance: standard error, interval, p-value and decision.

A score is one draw from two populations: trainings (seeds) and test examples. The variance of a difference D of means
over seeds is estimated as

    V = V_examples + sum over systems j of max(0, s_j^2 - I_j) / K_j

- V_examples: variance of D over bootstrap resamples of the test examples (`resampled_scores`), all seeds kept. Units
  (sentences, or documents where examples of a document belong together) are drawn with replacement, the same ones for
  every system and every seed, so that differences between systems are paired. This works for every metric that is a
  function of summed counts: accuracy, exact match, F1, the coreference measures.
- s_j^2: sample variance of system j's scores over its K_j seeds.
- I_j: the part of s_j^2 that comes from the limited test data (two seeds err on different examples): the variance of
  a seed's score around the mean of its seeds over the resamples. V_examples already contains it, so it is subtracted.

(D - threshold) / sqrt(V) is compared with Student's t distribution; its degrees of freedom are those of Welch and
Satterthwaite, because a variance from three seeds is uncertain. Resampling three seeds with replacement instead would
understate their variance by a third and ignore that uncertainty: `benchmarks/tasks/verdicts.py` shows how often each
rule finds a difference between equal systems.

The claims of a table are decided together (`decide`), their p-values corrected by Holm's method: if nothing that a
table compares differs, the chance that any of its claims is decided is at most 5 %, however the claims depend on each
other.

Sources: Welch 1947; Satterthwaite 1946; for seeds and test examples as two random factors, Bouthillier et al. 2021,
Accounting for Variance in Machine Learning Benchmarks; Efron and Tibshirani 1993, An Introduction to the Bootstrap; for
paired tests in NLP, Berg-Kirkpatrick et al. 2012, An Empirical Investigation of Statistical Significance in NLP; Holm
1979, A Simple Sequentially Rejective Multiple Test Procedure.
"""

import math
import statistics
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from elmo.tasks.counts import Metric, labelled
from elmo.tasks.task import MetricKind

LEVEL = 0.95
"""Of the intervals; a corrected p-value of at most 1 - LEVEL decides a claim."""
# What rounding leaves of a variance that is 0: the mean of three equal scores is often another number in its last bit.
# One answer in a million examples that differs gives 1e-8.
_ROUNDING = 1e-18


@dataclass(frozen=True)
class Scored:
    """One system's scores on one data set."""

    scores: Float[np.ndarray, " seeds"]
    """In percent."""
    resampled: Float[np.ndarray, "draws seeds"] | None = None
    """The same on resamples of the test examples, the same ones for all systems; None if the counts of single examples
    aren't known."""
    num_units: float = 0
    """From how many units the resamples were drawn; the effective number where they differ in size."""


@dataclass(frozen=True)
class Difference:
    """A mean difference and what chance alone does to it."""

    mean: float
    standard_error: float | None
    """None if there is nothing to estimate it from: one seed, seeds whose values are all equal, or one unit."""
    degrees_of_freedom: float = math.inf
    threshold: float = 0.0
    """The claim is that the difference is larger than this."""
    over_examples: bool = False
    """Whether the standard error covers the choice of the test examples too, or the seeds alone."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """The `LEVEL` confidence interval of this difference by itself, without correction for other claims."""
        if self.standard_error is None:
            return None
        reach = self.standard_error * _student_t().ppf((1 + LEVEL) / 2, self.degrees_of_freedom).item()
        return self.mean - reach, self.mean + reach

    @property
    def p_value(self) -> float | None:
        """Two-sided, of the difference being equal to the threshold; without correction."""
        if self.standard_error is None:
            return None
        distance = abs(self.mean - self.threshold) / self.standard_error
        return 2 * _student_t().sf(distance, self.degrees_of_freedom).item()


def contrast(terms: Sequence[tuple[int, Scored]], threshold: float = 0.0) -> Difference:
    """The sum of systems' mean scores, each times its sign; each system may occur once.

    Seeds of different systems are independent: the same number starts different networks.
    """
    mean = math.fsum(sign * float(scored.scores.mean()) for sign, scored in terms)
    if any(len(scored.scores) < 2 for _, scored in terms):
        return Difference(mean, None, threshold=threshold)
    resampled = all(scored.resampled is not None for _, scored in terms)
    if resampled and _fewest_units(terms) <= 1:
        return Difference(mean, None, threshold=threshold)
    over_examples = _variance_over_examples(terms) if resampled else 0.0
    over_seeds = math.fsum(_variance_over_seeds(scored, resampled) for _, scored in terms)
    variance = over_examples + over_seeds
    if variance <= _ROUNDING:
        return Difference(mean, None, threshold=threshold, over_examples=resampled)
    degrees = _degrees_of_freedom(variance, over_examples, terms)
    return Difference(mean, math.sqrt(variance), degrees, threshold, resampled)


def over_seeds(values: Sequence[float], threshold: float = 0.0) -> Difference:
    """Of a figure that each seed gives by itself, such as the weight of a layer: Student's t over the seeds."""
    mean = statistics.fmean(values)
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return Difference(mean, error or None, len(values) - 1, threshold)


def error_reduction(baseline: float, better: float) -> float | None:
    """Relative, in percent of the baseline's errors (its distance to 100); None if it makes none."""
    return None if baseline >= 100 else 100 * (better - baseline) / (100 - baseline)


def _variance_over_examples(terms: Sequence[tuple[int, Scored]]) -> float:
    differences = sum(sign * scored.resampled.mean(axis=1) for sign, scored in terms if scored.resampled is not None)
    return float(np.var(differences, ddof=1)) * _unbiased(_fewest_units(terms))


def _variance_over_seeds(scored: Scored, resampled: bool) -> float:
    """Of the mean over seeds, without the part that comes from the limited test data if that is known."""
    variance, seeds = float(np.var(scored.scores, ddof=1)), len(scored.scores)
    if resampled and scored.resampled is not None:
        around_mean = scored.resampled - scored.resampled.mean(axis=1, keepdims=True)
        of_examples = float(np.var(around_mean, axis=0, ddof=1).mean()) * seeds / (seeds - 1)
        variance = max(0.0, variance - of_examples * _unbiased(scored.num_units))
    return variance / seeds


def _degrees_of_freedom(variance: float, over_examples: float, terms: Sequence[tuple[int, Scored]]) -> float:
    """Satterthwaite's, but at least the fewest of any part of the variance: a system's seeds, or the units, minus 1."""
    sizes = ((scored.scores, len(scored.scores)) for _, scored in terms)
    parts = [(float(np.var(scores, ddof=1)) / seeds, seeds - 1.0) for scores, seeds in sizes]
    if over_examples:
        parts.append((over_examples, max(1.0, _fewest_units(terms) - 1)))
    uncertainty = math.fsum(part**2 / degrees for part, degrees in parts)
    return max(min(degrees for _, degrees in parts), variance**2 / uncertainty) if uncertainty else math.inf


def _fewest_units(terms: Sequence[tuple[int, Scored]]) -> float:
    return min(scored.num_units for _, scored in terms)


def _unbiased(num_units: float) -> float:
    """The variance of a resample's mean is that of a sample's mean times (n - 1) / n, of n units."""
    return num_units / (num_units - 1) if num_units > 1 else 1.0


def _student_t() -> Any:
    """scipy's distribution."""
    from scipy.stats import t  # which takes a second to import, and few verdicts need it

    return t


DRAWS = 10_000
SEED = 0
"""Of the random numbers: the same data always give the same figures."""

# Draws computed at a time, so that 10,000 draws of 100,000 units don't need 8 GB.
_CHUNK_ELEMENTS = 4_000_000


def resampled_scores(
    counts: Float[np.ndarray, "seeds units counts"], metric: Metric, *, draws: int = DRAWS, seed: int = SEED
) -> Float[np.ndarray, "draws seeds"]:
    """The scores of a system's every seed on `draws` resamples of the units, the same ones for all systems with them.

    That is, for those with the same units in the same order; their numbers of seeds may differ.
    """
    num_seeds, num_units, num_counts = counts.shape
    by_unit = counts.transpose(1, 0, 2).reshape(num_units, -1).astype(np.float64)
    random = np.random.default_rng(seed)
    step = max(1, _CHUNK_ELEMENTS // num_units)
    parts = []
    for start in range(0, draws, step):
        times = _times_drawn(random, min(step, draws - start), num_units)
        parts.append(metric((times @ by_unit).reshape(len(times), num_seeds, num_counts)))
    return np.concatenate(parts)


def summed_by_unit(
    counts: Float[np.ndarray, "seeds examples counts"], units: Sequence[Hashable]
) -> Float[np.ndarray, "seeds units counts"]:
    """The counts of the examples of each unit added up; `units[i]` names the unit of example i."""
    places = {unit: place for place, unit in enumerate(dict.fromkeys(units))}
    summed = np.zeros((len(places), len(counts), counts.shape[2]))
    np.add.at(summed, np.array([places[unit] for unit in units]), counts.transpose(1, 0, 2))
    return summed.transpose(1, 0, 2)


def effective_units(counts: Float[np.ndarray, "seeds units counts"], kind: MetricKind) -> float:
    """How many units of equal size are worth as much: (sum of sizes)^2 / sum of squared sizes (Kish 1965).

    A unit's size is the number of its examples, for an accuracy of what they have labels for (the tokens of a tagged
    sentence), and for an F1 the sum of its counts, without the 1 for each example: sentences in which there is nothing
    to find say nothing. A few long documents among short ones decide a score almost alone. 0 if no unit has a size.
    """
    if kind == "mean":
        sizes = counts[..., -1].sum(axis=0)
    elif kind == "accuracy":
        sizes = labelled(counts).sum(axis=0)
    else:
        sizes = counts[..., :-1].sum(axis=(0, 2))
    return float(sizes.sum() ** 2 / (sizes**2).sum()) if sizes.any() else 0.0


def _times_drawn(random: np.random.Generator, draws: int, num_units: int) -> Float[np.ndarray, "draws units"]:
    drawn = random.integers(0, num_units, (draws, num_units)) + num_units * np.arange(draws)[:, None]
    return np.bincount(drawn.ravel(), minlength=draws * num_units).reshape(draws, num_units).astype(np.float64)


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
