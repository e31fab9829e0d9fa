"""As few digits as float32 needs, and never another value."""

import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from elmo.embed.results.output import shortest

values = arrays.arrays(np.float32, 8, elements=st.floats(width=32))


@given(values)
def test_every_value_is_read_back_bit_for_bit(array):
    found = shortest(array).astype(np.float32)
    assert np.array_equal(found, array, equal_nan=True)
    assert np.array_equal(np.signbit(found), np.signbit(array))


@given(arrays.arrays(np.float32, 8, elements=st.floats(-1000, 1000, width=32)))
def test_the_digits_are_those_that_numpy_prints(array):
    for value, found in zip(array, shortest(array).tolist(), strict=True):
        if value == 0 or abs(value) > 1e-12:
            assert float(str(value)) == found


def test_json_has_few_digits():
    array = np.array([[0.1, -25.088], [1 / 3, 1e-8]], np.float32)
    assert json.dumps(shortest(array).tolist()) == "[[0.1, -25.088], [0.33333334, 1e-08]]"
