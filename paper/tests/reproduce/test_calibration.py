"""Equal systems are declared different in at most one table of twenty; real gains are found.

The simulation is that of `benchmarks/tasks/verdicts.py`, whose record has more worlds and more tables.
"""

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

import pytest

TABLES = 200
# 10 + 2 standard errors of a count of tables when each has a chance of 5 %.
MOST = 16


@pytest.fixture(scope="module")
def simulation(load_script) -> ModuleType:
    """`benchmarks/tasks/verdicts.py`."""
    return load_script("benchmarks/tasks/verdicts.py")


@pytest.fixture
def rates(simulation) -> Callable[..., dict[str, float]]:
    def found(place: int = 0, says=any, **changes) -> dict[str, float]:
        world = replace(simulation.EQUAL[place], units=min(300, simulation.EQUAL[place].units), **changes)
        return simulation.rates(world, TABLES, 200, says)

    return found


@pytest.mark.parametrize("place", range(10))
def test_equal_systems_are_told_apart_in_at_most_a_twentieth_of_the_tables(simulation, rates, place):
    assert len(simulation.EQUAL) == 10
    found = rates(place)
    assert found["ours"] * TABLES <= MOST
    assert found["exceeds the spread"] > 0.15, "the old rule should fail here, or the simulation shows nothing"


def test_resampling_three_seeds_with_replacement_is_not_enough(rates):
    assert rates(2)["plain bootstrap"] > 0.2


def test_a_large_gain_is_found_and_a_loss_is_not_called_a_gain(rates):
    assert rates(says=lambda claims: claims[0] == 1, gain=1.2, seeds=5)["ours"] > 0.9
    assert rates(says=lambda claims: claims[0] == 1, gain=-1.2, seeds=5)["ours"] == 0
