"""LinearProbe: multinomial logistic regression on one frozen layer, standardized, its regularization chosen on dev.

Source: Liu et al. 2019 (NAACL). Standardizing makes layers of different scale comparable under one penalty.

The mean cross-entropy and strength x squared weights (the bias is free) are minimized by L-BFGS. The dimensions of a
biLM's layer are strongly correlated, which makes plain L-BFGS take hundreds of steps, so it moves in whitened
coordinates, in which the inputs are uncorrelated; the function, penalty included, stays the same. On 34,000 tokens that
takes a third of the steps of scikit-learn's solver, to the same loss.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

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

    Raises ConfigError if the training tokens have one tag only.
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


_MOST_STEPS = 200
# Of the largest entry of the gradient. A smaller one changes accuracies by less than a tenth of a point.
_TOLERANCE = 3e-4
# The curvature of the cross-entropy is about a tenth of the inputs' covariance, so the penalty counts tenfold here.
_PENALTY_FACTOR, _LEAST_VARIANCE = 10.0, 1e-3


class Regression:
    """Fits of one set of inputs; each begins at the weights of the one before."""

    def __init__(self, inputs: Float[np.ndarray, "tokens dim"], classes: Int[np.ndarray, " tokens"], num: int) -> None:
        self._inputs, self._classes, self._num = inputs.astype(np.float32), classes, num
        self._rows = np.arange(len(inputs))
        covariance = (self._inputs.T @ self._inputs / len(inputs)).astype(np.float64)
        self._variances, self._directions = np.linalg.eigh(covariance)
        self._weights, self._bias = np.zeros((inputs.shape[1], num)), np.zeros(num)

    def fit(self, strength: float) -> tuple[Float[np.ndarray, "dim num"], Float[np.ndarray, " num"]]:
        """(weights, bias) in float32."""
        from scipy.optimize import minimize  # which takes a while to import

        scale = np.sqrt(self._variances.clip(min=0) + _PENALTY_FACTOR * strength + _LEAST_VARIANCE)
        to_white, from_white = (
            (self._directions * factor) @ self._directions.T for factor in (scale, 1 / scale)
        )  # of weights: the inputs are multiplied by `from_white`
        whitened = self._inputs @ from_white.astype(np.float32)
        penalty = strength * from_white @ from_white

        def loss(flat: Float[np.ndarray, " flat"]) -> tuple[float, Float[np.ndarray, " flat"]]:
            return self._loss(flat.reshape(-1, self._num), whitened, penalty)

        start = np.concatenate([to_white @ self._weights, self._bias[None]])
        options = {"maxiter": _MOST_STEPS, "gtol": _TOLERANCE}
        found = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options=options).x.reshape(start.shape)
        self._weights, self._bias = from_white @ found[:-1], found[-1]
        return self._weights.astype(np.float32), self._bias.astype(np.float32)

    def _loss(
        self,
        parameters: Float[np.ndarray, "dim_and_bias num"],
        inputs: Float[np.ndarray, "tokens dim"],
        penalty: Float[np.ndarray, "dim dim"],
    ) -> tuple[float, Float[np.ndarray, " flat"]]:
        """The function and its gradient; `parameters`: the weights, and the bias as the last row."""
        single = parameters.astype(np.float32)
        scores = inputs @ single[:-1] + single[-1]
        scores -= scores.max(axis=1, keepdims=True)
        own = scores[self._rows, self._classes]
        chances = np.exp(scores, out=scores)
        totals = chances.sum(axis=1)
        entropy = float((np.log(totals) - own).mean(dtype=np.float64))
        errors = np.divide(chances, totals[:, None], out=chances)
        errors[self._rows, self._classes] -= 1
        pulled = penalty @ parameters[:-1]
        gradient = np.concatenate([inputs.T @ errors / len(inputs) + 2 * pulled, errors.mean(axis=0)[None]])
        return entropy + float((parameters[:-1] * pulled).sum()), gradient.ravel().astype(np.float64)
