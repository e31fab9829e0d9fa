"""Means with intervals."""

import numpy as np
from jaxtyping import Float

Measured = tuple[float, tuple[float, float]]
"""A mean and its 95 % interval."""


def mean_and_interval(values: Float[np.ndarray, " values"]) -> Measured:
    """The mean and its 95 % interval by the normal distribution, for many independent values."""
    mean = float(values.mean())
    reach = 1.96 * float(values.std(ddof=1)) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return mean, (mean - reach, mean + reach)
