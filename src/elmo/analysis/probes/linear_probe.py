"""LinearProbe: multinomial logistic regression on one frozen layer, standardized, its regularization chosen on dev.

Source: Liu et al. 2019 (NAACL). Standardizing makes layers of different scale comparable under one penalty.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from elmo.analysis.probes.regression import Regression
from elmo.errors import ConfigError

STRENGTHS = (1e-3, 1e-4, 1e-5, 1e-6)
"""Factors of the squared weights, beside the mean cross-entropy of a token."""


@dataclass(frozen=True)
class Split:
    """Vectors of one layer and the numbers of their tags."""

    vectors: Float[np.ndarray, "tokens dim"]
    tags: Int[np.ndarray, " tokens"]


@dataclass(frozen=True)
class LinearProbe:
    """A fitted probe."""

    mean: Float[np.ndarray, " dim"]
    """Of the training vectors."""
    deviation: Float[np.ndarray, " dim"]
    known: Int[np.ndarray, " known"]
    """The tags that training has, rising."""
    weights: Float[np.ndarray, "dim known"]
    bias: Float[np.ndarray, " known"]
    strength: float
    """The penalty chosen on dev."""
    dev_accuracy: float
    """In percent."""

    def predict(self, vectors: Float[np.ndarray, "tokens dim"]) -> Int[np.ndarray, " tokens"]:
        """The most probable tag of each token."""
        return self.known[self._logits(vectors).argmax(axis=1)]

    def probabilities(self, split: Split) -> Float[np.ndarray, " tokens"]:
        """Of each token's own tag; 0 for a tag that training doesn't have."""
        logits = self._logits(split.vectors)
        columns = np.searchsorted(self.known, split.tags).clip(max=len(self.known) - 1)
        own = np.exp(logits[np.arange(len(columns)), columns] - np.logaddexp.reduce(logits, axis=1))
        return np.where(self.known[columns] == split.tags, own, 0.0)

    def _logits(self, vectors: Float[np.ndarray, "tokens dim"]) -> Float[np.ndarray, "tokens known"]:
        return (vectors - self.mean) / self.deviation @ self.weights + self.bias


def fit(train: Split, dev: Split, strengths: Sequence[float] = STRENGTHS) -> LinearProbe:
    """The probe whose penalty is best on dev. Penalties are tried from the strongest on, each from the weights of the
    one before, until a weaker one is worse on dev.

    Raises ConfigError if the training tokens have one tag only, MissingExtraError without SciPy.
    """
    known, numbers = np.unique(train.tags, return_inverse=True)
    if len(known) < 2:
        raise ConfigError("all training tokens have the same tag, so there is nothing to probe. Check the tag column.")
    mean, deviation = train.vectors.mean(axis=0), train.vectors.std(axis=0)
    deviation[deviation == 0] = 1
    regression = Regression((train.vectors - mean) / deviation, numbers, len(known))
    best: LinearProbe | None = None
    for strength in sorted(strengths, reverse=True):
        weights, bias = regression.fit(strength)
        probe = LinearProbe(mean, deviation, known, weights, bias, strength, dev_accuracy=0.0)
        accuracy = 100 * float((probe.predict(dev.vectors) == dev.tags).mean())
        if best is not None and accuracy < best.dev_accuracy:
            break
        best = LinearProbe(mean, deviation, known, weights, bias, strength, accuracy)
    assert best is not None
    return best
