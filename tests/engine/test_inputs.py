"""What enters the engine is checked: the error names the argument, its value and the remedy.

Children with every wrong argument, and watched memory, are in tests/ops/native/test_hostile_calls.py.
"""

import numpy as np
import pytest

from elmo.engine.engine import Engine, State, zero_state
from elmo.errors import ConfigError, WeightFileError


@pytest.fixture
def engine(tiny_checkpoint, backend) -> Engine:
    return Engine.from_checkpoint(tiny_checkpoint)


VECTORS = np.ones((2, 5, 8), np.float32)
LENGTHS = {
    "beyond the tokens": (np.array([5, 7]), r"the lengths \[5, 7\] count the vectors of each row"),
    "below zero": (np.array([5, -1]), r"the lengths \[5, -1\] "),
}


@pytest.mark.parametrize("case", LENGTHS)
def test_lengths_that_are_not_the_rows_are_refused(engine, case):
    lengths, message = LENGTHS[case]
    with pytest.raises(ConfigError, match=message):
        engine.contextualize(VECTORS, lengths)


def test_packed_vectors_are_as_many_as_the_lengths_say(engine):
    with pytest.raises(ConfigError, match=r"the lengths \[3, 1\] .* \(got float32 of shape \(5, 8\)"):
        engine.contextualize_packed(VECTORS[0], np.array([3, 1]))


@pytest.mark.parametrize("dtype", [np.int8, np.int32])
def test_lengths_of_every_type_of_integer_mean_the_same(engine, dtype):
    expected, _ = engine.contextualize(VECTORS, np.array([5, 2]))
    found, _ = engine.contextualize(VECTORS, np.array([5, 2], dtype))
    np.testing.assert_array_equal(found, expected)


def test_vectors_of_another_width_or_type_are_refused(engine):
    with pytest.raises(ConfigError, match=r"the shapes \[\(2, 5, 8\), .* \(got float32 of shape \(2, 5, 4\)"):
        engine.contextualize(VECTORS[:, :, :4].copy(), np.array([5, 2]))
    with pytest.raises(ConfigError, match=r"of float32 and the shapes .* \(got float64 of shape"):
        engine.contextualize(VECTORS.astype(np.float64), np.array([5, 2]))


def test_a_state_of_other_rows_or_with_its_parts_swapped_is_refused(engine, tiny_config):
    hidden, cell = zero_state(tiny_config, 2)
    with pytest.raises(ConfigError, match=r"\(2, 2, 32\)\] \(got .* shape \(2, 2, 32\), .* shape \(2, 2, 16\)"):
        engine.contextualize(VECTORS, np.array([5, 2]), State(cell, hidden))
    with pytest.raises(ConfigError, match=r"\(got .* shape \(2, 3, 16\)"):
        engine.contextualize(VECTORS, np.array([5, 2]), zero_state(tiny_config, 3))
    with pytest.raises(ConfigError, match="float64 of shape"):
        engine.contextualize(VECTORS, np.array([5, 2]), State(hidden, cell.astype(np.float64)))


@pytest.mark.parametrize("wrong", [-1, 262, 2**40])
def test_ids_outside_the_table_are_refused(engine, wrong):
    with pytest.raises(ConfigError, match=r"the character ids are int64 of shape \(1, 50\), but .* from 0 to 261"):
        engine.token_vectors(np.full((1, 50), wrong, np.int64))


def test_ids_of_another_width_are_refused(engine):
    with pytest.raises(ConfigError, match=r"shape \(2, 49\), but this model takes integers of shape \(2, 50\)"):
        engine.token_vectors(np.ones((2, 49), np.int64))


def test_tensors_that_the_config_does_not_describe_are_refused(tiny_checkpoint):
    config, tensors = tiny_checkpoint.config, dict(tiny_checkpoint.tensors)
    name = "forward_lstm.layers.0.bias"
    with pytest.raises(WeightFileError, match=f"the tensors: tensor '{name}' has shape .*, but the config asks for"):
        Engine(config, tensors | {name: tensors[name][:-4]})
    with pytest.raises(ConfigError, match="float32 and float64"):
        Engine(config, tensors | {name: tensors[name].astype(np.float64)})
