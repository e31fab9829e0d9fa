"""LinearProbe: multinomial logistic regression on one frozen layer, standardized, its regularization chosen on dev.

Source: Liu et al. 2019 (NAACL). Standardizing makes layers of different scale comparable under one penalty.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from elmo.errors import ConfigError, MissingExtraError

STRENGTHS = (1e-6, 1e-5, 1e-4, 1e-3)
"""Factors of the squared weights, beside the mean cross-entropy of a token."""
_MOST_ITERATIONS = 200


@dataclass(frozen=True)
class Split:
    """Vectors of one layer and the numbers of their tags."""

    vectors: Float[np.ndarray, "tokens dim"]
    tags: Int[np.ndarray, " tokens"]


@dataclass(frozen=True)
class Probed:
    """What the chosen probe says of the test tokens."""

    predictions: Int[np.ndarray, " tokens"]
    strength: float
    """The penalty chosen on dev."""
    dev_accuracy: float
    """In percent."""


def probe(train: Split, dev: Split, test: Split, strengths: Sequence[float] = STRENGTHS) -> Probed:
    """Fits a probe with each strength and applies the one that is best on dev to the test tokens.

    Raises ConfigError if the training tokens have one tag only, MissingExtraError without scikit-learn.
    """
    if len(np.unique(train.tags)) < 2:
        raise ConfigError("all training tokens have the same tag, so there is nothing to probe. Check the tag column.")
    mean, deviation = train.vectors.mean(axis=0), train.vectors.std(axis=0)
    deviation[deviation == 0] = 1
    inputs = [(split.vectors - mean) / deviation for split in (train, dev, test)]
    fitted = [(strength, _fitted(inputs[0], train.tags, strength)) for strength in strengths]
    accuracies = [100 * float((model.predict(inputs[1]) == dev.tags).mean()) for _, model in fitted]
    best = int(np.argmax(accuracies))
    strength, model = fitted[best]
    return Probed(model.predict(inputs[2]), strength, accuracies[best])


def _fitted(vectors: np.ndarray, tags: np.ndarray, strength: float):  # noqa: ANN202 - a type of an optional library
    try:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        raise MissingExtraError("scikit-learn", "analysis", "fitting probes") from None
    # scikit-learn's C multiplies the sum of the losses and leaves half of the squared weights beside it.
    model = LogisticRegression(C=1 / (2 * strength * len(tags)), max_iter=_MOST_ITERATIONS, tol=1e-4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the last digit of a probe doesn't need more iterations
        return model.fit(vectors, tags)
