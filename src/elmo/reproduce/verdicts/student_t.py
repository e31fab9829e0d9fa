"""Student's t distribution, with any positive number of degrees of freedom.

With t = sqrt(df) tan(angle), its density is proportional to cos(angle)^(df - 1), which is smooth and bounded, so that
Gauss-Legendre quadrature gives tails to about 12 digits.
"""

import math

import numpy as np

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(200)
# Beyond this it is the normal distribution to more digits than anybody reads, and the integrand grows too narrow.
_MOST_DEGREES = 1e6


def two_sided_p(t: float, degrees_of_freedom: float) -> float:
    """The probability of a value at least as far from 0 as `t`."""
    df = min(degrees_of_freedom, _MOST_DEGREES)
    begin, end = math.atan(abs(t) / math.sqrt(df)), math.pi / 2
    if end <= begin:
        return 0.0
    # Almost all of the integral lies within a few 1/sqrt(df) of its lower end.
    end = min(end, begin + 40 / math.sqrt(df))
    angles = begin + (end - begin) * (_NODES + 1) / 2
    tail = (end - begin) / 2 * float(_WEIGHTS @ np.cos(angles) ** (df - 1))
    log_half = math.log(math.pi) / 2 + math.lgamma(df / 2) - math.lgamma((df + 1) / 2) - math.log(2)
    return min(1.0, tail / math.exp(log_half))


def two_sided_quantile(level: float, degrees_of_freedom: float) -> float:
    """The value that is exceeded, in either direction, with probability 1 - `level`; by bisection."""
    low, high = 0.0, 1.0
    while two_sided_p(high, degrees_of_freedom) > 1 - level:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        if two_sided_p(middle, degrees_of_freedom) > 1 - level:
            low = middle
        else:
            high = middle
    return (low + high) / 2
