"""How often `elmo-paper reproduce` declares equal systems different, and how often it finds a real gain.

    python benchmarks/tasks/verdicts.py [--tables 1000]

Tables are simulated: four systems as in table 2 of the paper (a baseline and three with ELMo, five claims), trained
with several seeds, scored on the same test units. An item is answered correctly with a probability that depends on the
unit, on the system and the unit, and on the seed; "equal" systems have the same distribution of all of these. Rules:

    exceeds the spread      the rule of elmo 0.1: |D| > root of the sum of both variances, per claim
    t over seeds            Welch's t-test on the scores alone, p <= 0.05 per claim
    plain bootstrap         units and seeds resampled with replacement, 95 % percentile interval without 0, per claim
    ours, one claim         `elmo_paper.reproduce.verdicts`, p <= 0.05 per claim
    ours                    the same with Holm's correction over the table: what `elmo-paper reproduce` says
"""

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

import numpy as np
from record import Record, Table, parser

from elmo_paper.reproduce.verdicts import (
    AGREES,
    UNDECIDED,
    Difference,
    Metric,
    MetricKind,
    Scored,
    contrast,
    decide,
    effective_units,
    resampled_scores,
)

SYSTEMS = ("baseline", "top", "lambda-1", "lambda-0.001")
CLAIMS = ((3, 0), (1, 0), (2, 1), (3, 1), (3, 2))
"""Of table 2: which system beats which."""
RULES = ("exceeds the spread", "t over seeds", "plain bootstrap", "ours, one claim", "ours")


@dataclass(frozen=True)
class World:
    """How outcomes come about. Deviations are of log-odds."""

    name: str
    units: int = 1000
    seeds: int = 3
    by_unit: float = 1.5
    """How much units differ in difficulty."""
    by_system_and_unit: float = 0.5
    """How much a unit suits one system more than another."""
    by_seed: float = 0.05
    """How much trainings of a system differ on all units alike."""
    items: float = 0.0
    """Gold items of a unit on average, scored by micro F1; 0: one item in each, scored by accuracy."""
    spread_of_sizes: float = 0.0
    """Deviation of the log of a unit's size: documents instead of sentences."""
    unequal_seeds: bool = False
    """Whether the baseline's `by_seed` is four times that of the others."""
    gain: float = 0.0
    """Log-odds that ELMo adds."""


EQUAL = (
    World("accuracy, 1,000 sentences"),
    World("accuracy, no effect of the seed but on single items", by_seed=0.0),
    World("accuracy, strong effect of the seed", by_seed=0.3),
    World("accuracy, strong effect of the seed on the baseline alone", by_seed=0.08, unequal_seeds=True),
    World("accuracy, systems err on different sentences", by_system_and_unit=1.5),
    World("accuracy, 2 seeds", seeds=2),
    World("accuracy, 5 seeds", seeds=5),
    World("accuracy, 100 sentences", units=100),
    World("F1, 1,000 sentences with 0.8 entities each", items=0.8),
    World("F1, 18 documents of very different sizes", units=18, items=50, spread_of_sizes=0.7, by_unit=0.5),
)


def simulated(world: World, random: np.random.Generator) -> list[np.ndarray]:
    """Counts of each system, (seeds, units, counts)."""
    difficulty = 0.3 + world.by_unit * random.standard_normal(world.units)
    size = np.exp(world.spread_of_sizes * random.standard_normal(world.units))
    gold = random.poisson(world.items * size) if world.items else np.ones(world.units, int)
    counts = []
    for place in range(len(SYSTEMS)):
        suits = world.by_system_and_unit * random.standard_normal(world.units)
        deviation = world.by_seed * (4 if world.unequal_seeds and place == 0 else 1)
        seeds = deviation * random.standard_normal((world.seeds, 1))
        odds = difficulty + suits + seeds + (world.gain if place else 0.0)
        right = 1 / (1 + np.exp(-odds))
        counts.append(_outcomes(world, gold, right, random))
    return counts


def _outcomes(world: World, gold: np.ndarray, right: np.ndarray, random: np.random.Generator) -> np.ndarray:
    found = random.binomial(gold, right)
    if not world.items:
        return np.stack([found, np.ones_like(found)], axis=-1).astype(float)
    invented = random.poisson(world.items * (1 - right))
    return np.stack([found, invented, gold - found], axis=-1).astype(float)


def accuracy(counts: np.ndarray) -> np.ndarray:
    """(correct, all) -> percent."""
    return 100 * counts[..., 0] / counts[..., 1]


def micro_f1(counts: np.ndarray) -> np.ndarray:
    """(found, invented, missed) -> percent."""
    return 200 * counts[..., 0] / np.maximum(1, 2 * counts[..., 0] + counts[..., 1] + counts[..., 2])


def decisions(world: World, random: np.random.Generator, draws: int) -> dict[str, list[int]]:
    """What each rule says of each claim of one simulated table: 1 agrees, -1 does not agree, 0 not decided."""
    metric: Metric = micro_f1 if world.items else accuracy
    kind: MetricKind = "f1" if world.items else "mean"
    counts = simulated(world, random)
    seed = int(random.integers(2**31))
    systems = [
        Scored(
            metric(own.sum(axis=1)), resampled_scores(own, metric, draws=draws, seed=seed), effective_units(own, kind)
        )
        for own in counts
    ]
    differences = [contrast([(1, systems[better]), (-1, systems[worse])]) for better, worse in CLAIMS]
    over_seeds = [_without_units(systems, better, worse) for better, worse in CLAIMS]
    decided = [0 if one.verdict == UNDECIDED else 1 if one.verdict == AGREES else -1 for one in decide(differences)]
    return {
        "exceeds the spread": [_exceeds(systems[better], systems[worse]) for better, worse in CLAIMS],
        "t over seeds": [_by_p(one) for one in over_seeds],
        "plain bootstrap": [_percentile(systems[better], systems[worse], random) for better, worse in CLAIMS],
        "ours, one claim": [_by_p(one) for one in differences],
        "ours": decided,
    }


def _without_units(systems: Sequence[Scored], better: int, worse: int) -> Difference:
    alone = [replace(one, resampled=None) for one in systems]
    return contrast([(1, alone[better]), (-1, alone[worse])])


def _by_p(difference: Difference) -> int:
    p = difference.p_value
    return 0 if p is None or p > 0.05 else int(math.copysign(1, difference.mean))


def _exceeds(better: Scored, worse: Scored) -> int:
    spread = math.sqrt(np.var(better.scores, ddof=1) + np.var(worse.scores, ddof=1))
    difference = better.scores.mean() - worse.scores.mean()
    return int(np.sign(difference)) if abs(difference) > spread else 0


def _percentile(better: Scored, worse: Scored, random: np.random.Generator) -> int:
    difference = _with_seeds_drawn(better, random) - _with_seeds_drawn(worse, random)
    low, high = np.quantile(difference, [0.025, 0.975])
    return 1 if low > 0 else -1 if high < 0 else 0


def _with_seeds_drawn(scored: Scored, random: np.random.Generator) -> np.ndarray:
    assert scored.resampled is not None
    draws, seeds = scored.resampled.shape
    return np.take_along_axis(scored.resampled, random.integers(0, seeds, (draws, seeds)), axis=1).mean(axis=1)


def rates(world: World, tables: int, draws: int, says: Callable[[list[int]], bool], seed: int = 0) -> dict[str, float]:
    """The share of simulated tables, by rule, of which `says` is true."""
    random = np.random.default_rng(seed)
    found = [decisions(world, random, draws) for _ in range(tables)]
    return {rule: sum(says(one[rule]) for one in found) / tables for rule in RULES}


def main() -> int:
    """Simulates and writes the record; exit code 1 if equal systems are told apart in more than 5 % of the tables."""
    arguments = parser(__doc__)
    arguments.add_argument("--tables", type=int, default=1000, help="simulated for each line")
    arguments.add_argument("--draws", type=int, default=400, help="resamples for each table")
    arguments.add_argument("--seed", type=int, default=0)
    given = arguments.parse_args()
    equal = {world.name: rates(world, given.tables, given.draws, any, given.seed) for world in EQUAL}
    gains = []
    for gain in (0.1, 0.2, 0.3, 0.5):
        world = replace(EQUAL[0], gain=gain)
        points = _points(world)
        found = rates(world, given.tables, given.draws, lambda claims: claims[0] == 1, given.seed)
        gains.append([f"{points:.1f}", *(f"{100 * found[rule]:.1f} %" for rule in RULES)])
    rows = [[name, *(f"{100 * found[rule]:.1f} %" for rule in RULES)] for name, found in equal.items()]
    tables = [
        Table(["equal systems", *RULES], rows, "Tables in which at least one of five claims is decided"),
        Table(["gain in points of accuracy", *RULES], gains, "Tables in which 'ELMo beats the baseline' agrees"),
    ]
    worst = max(found["ours"] for found in equal.values())
    low, high = wilson(round(worst * given.tables), given.tables)
    sentence = (
        f"Equal systems are told apart in at most {100 * worst:.1f} % of the tables by our rule (95 % interval of that "
        f"line alone: {100 * low:.1f} to {100 * high:.1f}; standard error at 5 %: "
        f"{100 * math.sqrt(0.05 * 0.95 / given.tables):.1f} points). The simulation knows one kind of seed "
        "effect; trainings that fail now and then would have heavier tails."
    )
    chosen = f"{given.tables:,} a line, {given.draws} resamples each, random seed {given.seed}"
    settings: dict[str, object] = {"tables": chosen}
    Record("verdicts", "Verdicts on simulated tables", tables, sentence, settings).write(given.results)
    return 1 if worst > 0.05 + 2 * math.sqrt(0.05 * 0.95 / given.tables) else 0


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    share, z = successes / trials, 1.96
    middle = (share + z**2 / (2 * trials)) / (1 + z**2 / trials)
    half = z / (1 + z**2 / trials) * math.sqrt(share * (1 - share) / trials + z**2 / (4 * trials**2))
    return middle - half, middle + half


def _points(world: World) -> float:
    """The gain in points of accuracy that the log-odds amount to."""
    large = replace(world, units=200_000, seeds=1, by_seed=0.0)
    counts = simulated(large, np.random.default_rng(1))
    means = [float(accuracy(own.sum(axis=1)).mean()) for own in counts]
    return sum(means[1:]) / 3 - means[0]


if __name__ == "__main__":
    raise SystemExit(main())
