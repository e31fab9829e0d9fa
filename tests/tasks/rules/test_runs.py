"""The longest runs of neighbors with a property."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo.tasks.rules.runs import longest_runs


@pytest.mark.parametrize(
    ("wanted", "runs"),
    [
        ("", []),
        ("-", []),
        ("x", [(0, 0)]),
        ("xx-x", [(0, 1), (3, 3)]),
        ("--x--", [(2, 2)]),
    ],
)
def test_runs_by_hand(wanted, runs):
    assert list(longest_runs(mark == "x" for mark in wanted)) == runs
    assert list(longest_runs((mark == "x" for mark in wanted), 7)) == [(first + 7, last + 7) for first, last in runs]


@given(st.lists(st.booleans()))
def test_all_that_is_wanted_is_in_one_run_and_nothing_else(wanted):
    found = np.zeros(len(wanted), int)
    runs = list(longest_runs(wanted))
    for first, last in runs:
        found[first : last + 1] += 1
    assert found.tolist() == wanted
    assert all(last + 1 < first for (_, last), (first, _) in zip(runs, runs[1:], strict=False))
