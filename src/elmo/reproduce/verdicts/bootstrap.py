"""Bootstrap over test examples: how scores vary with the choice of the test data.

Units (sentences, or documents where examples of a document belong together) are drawn with replacement, the same ones
for every system and every seed, so that differences between systems are paired. Works for every metric that is a
function of summed counts: accuracy, exact match, F1, the coreference measures.

Source: Efron and Tibshirani 1993, An Introduction to the Bootstrap; for paired tests in NLP, Berg-Kirkpatrick et al.
2012, An Empirical Investigation of Statistical Significance in NLP.
"""

from collections.abc import Hashable, Sequence

import numpy as np
from jaxtyping import Float

from elmo.tasks.counts import Metric

DRAWS = 10_000
SEED = 0
"""Of the random numbers: the same data always give the same figures."""

# Draws computed at a time, so that 10,000 draws of 100,000 units don't need 8 GB.
_CHUNK_ELEMENTS = 4_000_000


def resampled_scores(
    counts: Sequence[Float[np.ndarray, "seeds units counts"]], metric: Metric, *, draws: int = DRAWS, seed: int = SEED
) -> list[Float[np.ndarray, "draws seeds"]]:
    """The scores of every seed of every system on `draws` resamples of the units.

    All systems must have the same units in the same order; their numbers of seeds may differ.
    """
    num_units = counts[0].shape[1]
    assert all(own.shape[1:] == counts[0].shape[1:] for own in counts), [own.shape for own in counts]
    stacked = np.concatenate(counts).astype(np.float64)  # (all seeds, units, counts)
    by_unit = stacked.transpose(1, 0, 2).reshape(num_units, -1)
    random = np.random.default_rng(seed)
    step = max(1, _CHUNK_ELEMENTS // num_units)
    parts = []
    for start in range(0, draws, step):
        times = _times_drawn(random, min(step, draws - start), num_units)
        parts.append(metric((times @ by_unit).reshape(len(times), *stacked.shape[::2])))
    ends = np.cumsum([len(own) for own in counts])[:-1]
    return np.split(np.concatenate(parts), ends, axis=1)


def summed_by_unit(
    counts: Float[np.ndarray, "seeds examples counts"], units: Sequence[Hashable]
) -> Float[np.ndarray, "seeds units counts"]:
    """The counts of the examples of each unit added up; `units[i]` names the unit of example i."""
    places = {unit: place for place, unit in enumerate(dict.fromkeys(units))}
    summed = np.zeros((len(places), len(counts), counts.shape[2]))
    np.add.at(summed, np.array([places[unit] for unit in units]), counts.transpose(1, 0, 2))
    return summed.transpose(1, 0, 2)


def effective_units(counts: Float[np.ndarray, "seeds units counts"]) -> float:
    """How many units of equal size say as much as these: (sum of sizes)^2 / sum of squared sizes (Kish 1965).

    A unit's size is the sum of its counts. A few long documents among short ones decide a score almost alone.
    """
    sizes = counts.sum(axis=(0, 2))
    return float(sizes.sum() ** 2 / (sizes**2).sum())


def _times_drawn(random: np.random.Generator, draws: int, num_units: int) -> Float[np.ndarray, "draws units"]:
    """How often each unit is in each resample."""
    drawn = random.integers(0, num_units, (draws, num_units)) + num_units * np.arange(draws)[:, None]
    return np.bincount(drawn.ravel(), minlength=draws * num_units).reshape(draws, num_units).astype(np.float64)
