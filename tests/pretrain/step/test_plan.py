"""What a step reads, planned while the step before is computed."""

from dataclasses import replace

import numpy as np
import pytest

from elmo.corpus.shards import TrainingData
from elmo.pretrain.settings.config import PretrainConfig
from elmo.pretrain.step.plan import Planner, StepPlan
from elmo.pretrain.step.trainer import Trainer


@pytest.fixture
def config(recipe: PretrainConfig) -> PretrainConfig:
    return replace(recipe, state_reset=0.5)


def _planner(config: PretrainConfig, data: TrainingData) -> Planner:
    return Trainer(config, data).planner


def _are_equal(one: StepPlan, other: StepPlan) -> bool:
    return np.array_equal(one.types, other.types) and all(
        (mine.places == its.places).all()
        and (mine.target_ids == its.target_ids).all()
        and (mine.keep == its.keep).all()
        and (mine.sampled.negatives.ids == its.sampled.negatives.ids).all()
        and mine.dropout_seed == its.dropout_seed
        for mine, its in zip(one.directions.values(), other.directions.values(), strict=True)
    )


def test_the_position_is_that_of_the_next_step_though_its_plan_is_made(config, data):
    planner = _planner(config, data)
    plans, positions = [], []
    for number in range(1, 6):
        positions.append(planner.positions)
        plans.append(planner.take(number))
    for number, position in enumerate(positions, start=1):
        again = _planner(config, data)
        again.take(1)  # and has begun the second
        again.seek(position)
        assert _are_equal(again.take(number), plans[number - 1])


def test_a_step_done_again_reads_what_comes_next_with_its_own_numbers(config, data):
    planner, other = _planner(config, data), _planner(config, data)
    planner.take(1)
    again = planner.take(1)  # the second window, by the numbers of step 1
    begins = other.take(1), other.positions
    other.seek(begins[1])
    assert _are_equal(again, other.take(1))
    assert not _are_equal(again, begins[0])


def test_what_went_wrong_in_a_plan_is_raised_where_it_is_taken(config, data, monkeypatch):
    planner = _planner(config, data)
    planner.take(1)
    planner.take(2)

    def broken(number: int) -> StepPlan:
        raise OSError(f"step {number}")

    monkeypatch.setattr(planner, "_make", broken)
    planner.take(3)  # was made before
    with pytest.raises(OSError, match="step 4"):
        planner.take(4)
