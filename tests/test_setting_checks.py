"""What a refused setting is told, by everything that takes one."""

import pytest

from elmo.analysis.geometry.sample import SampleSettings
from elmo.analysis.neighbors.occurrences import Limits
from elmo.errors import ConfigError
from elmo.setting_checks import require_seed


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_a_seed_that_no_generator_takes_is_refused(seed):
    with pytest.raises(ConfigError, match=rf"seed is {seed}, but must be from 0 to 2\^63 - 1. Change it"):
        require_seed(seed)
    for settings in (SampleSettings, Limits):
        with pytest.raises(ConfigError, match=f"seed is {seed}"):
            settings(seed=seed)


def test_the_last_seed_is_taken():
    require_seed(2**63 - 1)


# A negative one would be the end of a slice: all but so many.
@pytest.mark.parametrize("name", ["least_sentences", "tokens", "words", "occurrences"])
def test_a_sample_holds_something(name):
    with pytest.raises(ConfigError, match=f"{name} is -5, but must be 1 or more"):
        SampleSettings(**{name: -5})


@pytest.mark.parametrize("name", ["least_candidates", "occurrences", "queries"])
def test_occurrences_are_limited_to_some(name):
    with pytest.raises(ConfigError, match=f"{name} is 0, but must be 1 or more"):
        Limits(**{name: 0})
