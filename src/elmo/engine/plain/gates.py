"""Non-linearities in numpy, in double precision: weights that amplify rounding show a float's."""

import numpy as np

from elmo.shapes import Float


def logistic(values: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """1 / (1 + exp(-x)); far below zero the exponential is infinite and the result 0, as it should be."""
    with np.errstate(over="ignore"):
        return (1 / (1 + np.exp(-values, dtype=np.float64))).astype(values.dtype)


def hyperbolic_tangent(values: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """tanh(x)"""
    return np.tanh(values, dtype=np.float64).astype(values.dtype)


def clip(values: Float[np.ndarray, "*shape"], bound: float | None) -> Float[np.ndarray, "*shape"]:
    """Limit absolute values to `bound`, if there is one."""
    return values if bound is None else np.clip(values, -bound, bound)
