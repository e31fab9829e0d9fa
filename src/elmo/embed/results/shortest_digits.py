"""Shortest digits: values whose decimal form is as short as float32 allows.

A float32 has 6 to 9 significant digits, but as a Python float it is printed with up to 17: 0.1 becomes
0.10000000149011612, which says nothing more.
"""

import numpy as np

from elmo.shapes import Float, Float32

_FEWEST_DIGITS, _MOST_DIGITS = 6, 9
# Powers of ten are exact in float64 up to this one.
_LARGEST_POWER = 22


def shortest(values: Float32[np.ndarray, "*axes"]) -> Float[np.ndarray, "*axes"]:
    """For each value the float64 with the fewest decimal digits that is the same float32.

    `shortest(array).tolist()` is what JSON should hold: read back as float32 it is `array`, bit for bit.
    """
    exact = values.astype(np.float64)
    found = exact.copy()
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        magnitude = np.floor(np.log10(np.abs(exact)))
        open_ = np.isfinite(magnitude)
        for digits in range(_FEWEST_DIGITS, _MOST_DIGITS + 1):
            power = digits - 1 - magnitude
            open_ &= np.abs(np.where(open_, power, 0)) <= _LARGEST_POWER
            scale = np.power(10.0, np.abs(np.where(open_, power, 0)))
            rounded = np.where(power >= 0, np.rint(exact * scale) / scale, np.rint(exact / scale) * scale)
            is_same = open_ & (rounded.astype(np.float32) == values)
            found[is_same] = rounded[is_same]
            open_ &= ~is_same
    return found
