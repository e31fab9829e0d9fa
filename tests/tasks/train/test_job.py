"""Several seeds: mean, spread, and which one was the best."""

import pytest

from elmo.errors import ConfigError
from elmo.tasks.train.job import RunOptions, over_seeds, summarize


def test_scores_have_mean_and_standard_deviation():
    dev = {1: 80.0, 5: 84.0, 3: 82.0}
    found = over_seeds({seed: {"dev": {"f1": dev[seed]}, "test": {"f1": 2.0 * seed}} for seed in dev}, "f1")
    assert found["dev"] == {"mean": 82.0, "standard_deviation": 2.0, "scores": [80.0, 84.0, 82.0]}
    assert found["test"]["scores"] == [2.0, 10.0, 6.0]
    assert found["best_seed"] == 5
    assert [outcome["seed"] for outcome in found["per_seed"]] == [1, 5, 3]


def test_one_seed_has_no_spread_and_data_that_wasnt_given_no_score():
    found = over_seeds({7: {"dev": {"f1": 1.0}}}, "f1")
    assert found["dev"]["standard_deviation"] is None
    assert "test" not in found
    assert summarize([3.0])["mean"] == 3.0


@pytest.mark.parametrize("seeds", [[], [1, 1]])
def test_seeds_are_different_ones(seeds):
    with pytest.raises(ConfigError, match="seeds must be one or more, each once"):
        RunOptions(seeds)
