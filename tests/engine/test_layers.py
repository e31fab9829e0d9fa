"""Layers of both backends against elmo.reference in double precision; each row on its own to the last bit."""

from functools import cache
from itertools import product

import numpy as np
import pytest

from elmo import reference
from elmo.config import LSTMSettings
from elmo.engine import backend as backends
from elmo.engine.native import NativeLayer
from elmo.engine.plain import PlainLayer
from elmo.engine.row_packing import RowBatch, schedule
from elmo.engine.stacks import Stack, read_stacks
from elmo.engine.weight_store import LayerWeights
from elmo.ops.native.kinds import native_types

# How far from float64 on weights whose gates don't saturate: rounding errors of a sum of up to a few dozen factors.
TOLERANCE = {"float32": 2e-6, "bfloat16": 3e-2, "int8": 1e-1}
SETTINGS = [LSTMSettings(1.0, 3.0, 3.0), LSTMSettings(0.0, 0.5, 0.2), LSTMSettings(1.0, None, None)]
# dim, projection, cell: whole panels, odd numbers, one, and no projection.
SIZES = [(64, 64, 128), (5, 4, 7), (33, 17, 100), (1, 1, 1), (40, 40, 40), (130, 65, 70)]
LENGTHS = [[3], [1, 0, 6, 6, 1, 2], [0, 0], [], [4] * 13, [2] * 70 + [1, 3]]


def weights_of(dim, projection, cell, seed=0, dtype=np.float32) -> LayerWeights:
    chance = np.random.default_rng(seed)

    def normal(*shape):
        return (chance.standard_normal(shape) / shape[-1] ** 0.5).astype(dtype)

    projected = normal(projection, cell) if projection < cell else None
    return LayerWeights(normal(4 * cell, dim), normal(4 * cell, projection), normal(4 * cell), projected)


def num_rows(weights, lengths, seed=1):
    """Inputs, NaN where a row has ended, and a starting state."""
    chance = np.random.default_rng(seed)
    lengths = np.array(lengths, np.int64)
    tokens = int(lengths.max(initial=0))
    inputs = chance.standard_normal((len(lengths), tokens, weights.input_weight.shape[1])).astype(np.float32)
    inputs[np.arange(tokens)[None] >= lengths[:, None]] = np.nan
    hidden = chance.standard_normal((len(lengths), weights.recurrent_weight.shape[1])).astype(np.float32)
    return inputs, lengths, hidden, chance.standard_normal((len(lengths), weights.cell_size)).astype(np.float32)


def read(layer, inputs, lengths, hidden, cell, *, skips=False, rows=None):
    """Outputs (zero beyond a row's length) and the new state of one layer; `rows` (default: all) read in turn."""
    order = np.argsort(-lengths, kind="stable")
    rows = int((lengths > 0).sum()) if rows is None else rows
    steps = schedule(order * inputs.shape[1], lengths[order], backward=False, rows=rows)
    outputs = np.zeros((len(lengths) * inputs.shape[1], hidden.shape[1]), inputs.dtype)
    state = hidden[order], cell[order]
    layer.run(RowBatch(steps, inputs.reshape(-1, inputs.shape[2]), outputs, *state, skips))
    back = np.argsort(order, kind="stable")
    return outputs.reshape(*inputs.shape[:2], hidden.shape[1]), state[0][back], state[1][back]


def expected_of(inputs, lengths, hidden, cell, weights, settings):
    """The reference, a row and a token at a time, in double precision."""
    weights = [None if part is None else part.astype(np.float64) for part in weights]
    inputs, hidden, cell = (values.astype(np.float64) for values in (inputs, hidden, cell))
    outputs = np.zeros((*inputs.shape[:2], hidden.shape[1]))
    for row, length in enumerate(lengths):
        for token in range(length):
            state = reference.lstm_step(inputs[row, token], hidden[row], cell[row], *weights, *settings)
            outputs[row, token] = hidden[row] = state[0]
            cell[row] = state[1]
    return outputs, hidden, cell


@cache
def case_of(settings, sizes, lengths, nan_in=None):
    """Weights, rows and the results of the equations, which are slow: computed once for all backends and types.

    nan_in: what has a NaN in the second row: "inputs", "hidden" or "cell".
    """
    weights = weights_of(*sizes)
    inputs, _, hidden, cell = rows = num_rows(weights, lengths)
    if nan_in is not None:
        {"inputs": inputs[1], "hidden": hidden[1:2], "cell": cell[1:2]}[nan_in][0, -1] = np.nan
    return weights, rows, expected_of(*rows, weights, settings)


@pytest.mark.parametrize("settings", SETTINGS)
def test_layers_equal_the_equations_in_double_precision(dtype, settings):
    for sizes, lengths in product(SIZES, map(tuple, LENGTHS)):
        weights, rows, expected = case_of(settings, sizes, lengths)
        found = read(backends.layer(weights, settings, dtype), *(part.copy() for part in rows))
        for one, other in zip(found, expected, strict=True):
            assert one.dtype == np.float32
            np.testing.assert_allclose(one, other, rtol=0, atol=TOLERANCE[dtype], err_msg=f"{sizes}, {lengths}")


@pytest.mark.parametrize("settings", SETTINGS)
def test_what_is_no_number_stays_none_in_its_row(dtype, settings):
    """Clipping, rounding to steps or the exponential's bounds must not make a number of it."""
    for sizes, where in product(SIZES, ("inputs", "hidden", "cell")):
        weights, rows, expected = case_of(settings, sizes, (4, 4, 2, 4, 1), where)
        found = read(backends.layer(weights, settings, dtype), *(part.copy() for part in rows))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(np.isnan(one), np.isnan(other), err_msg=f"{sizes}, {where}")


@pytest.mark.usefixtures("backend")
def test_the_tier_is_chosen_by_the_type_of_the_weights():
    doubles = backends.layer(weights_of(5, 4, 7, dtype=np.float64), SETTINGS[0], "float32")
    assert isinstance(doubles, PlainLayer)
    singles = backends.layer(weights_of(5, 4, 7), SETTINGS[0], "float32")
    assert isinstance(singles, NativeLayer) == ("float32" in native_types())


def test_numpy_in_doubles_equals_the_equations_but_for_the_last_digits():
    weights = weights_of(33, 17, 50, dtype=np.float64)
    inputs, lengths, hidden, cell = num_rows(weights, [3, 0, 5])
    rows = (inputs.astype(np.float64), lengths, hidden.astype(np.float64), cell.astype(np.float64))
    found = read(PlainLayer(weights, SETTINGS[0], "float32"), *rows)
    for one, other in zip(found, expected_of(*rows, weights, SETTINGS[0]), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-13)


def test_both_tiers_round_the_same_factors(dtype, backend):
    if backend == "numpy":
        pytest.skip("compared with numpy")
    weights = weights_of(48, 48, 96)
    rows = num_rows(weights, [5, 3, 3, 1])
    pairs = zip(*(read(made(weights, SETTINGS[0], dtype), *rows) for made in (NativeLayer, PlainLayer)), strict=True)
    for one, other in pairs:
        np.testing.assert_allclose(one, other, rtol=0, atol={"float32": 2e-6, "bfloat16": 2e-2, "int8": 1e-3}[dtype])


def test_a_row_does_not_feel_the_rows_beside_it(dtype):
    weights = weights_of(48, 48, 96)
    layer = backends.layer(weights, SETTINGS[0], dtype)
    inputs, lengths, hidden, cell = num_rows(weights, [7, 5, 5, 2, 1, 6] * 5)
    together = read(layer, inputs, lengths, hidden, cell)
    for some in ([3], [1, 4], list(range(11)), list(range(29, 4, -1))):
        alone = read(layer, inputs[some], lengths[some], hidden[some], cell[some])
        for one, other in zip(alone, together, strict=True):
            np.testing.assert_array_equal(one, other[some])


@pytest.mark.parametrize("rows", [1, 2, 5, 13])
@pytest.mark.parametrize("skips", [False, True])
def test_sentences_that_share_rows_have_the_bits_of_their_own(dtype, rows, skips):
    weights = weights_of(33, 33, 100)
    layer = backends.layer(weights, SETTINGS[0], dtype)
    sentences = num_rows(weights, [7, 0, 5, 1, 5, 2, 1, 6, 0, 3, 3, 4, 1, 1, 2])
    apart = read(layer, *sentences, skips=skips)
    for one, other in zip(read(layer, *sentences, skips=skips, rows=rows), apart, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("team", [2, 3])
def test_sentences_share_rows_on_several_threads(dtype, team, monkeypatch):
    monkeypatch.setattr("elmo.engine.stacks.num_threads", lambda: team)
    monkeypatch.setattr("elmo.engine.stacks._autotuner.run", lambda _kind, _amount, variants: variants[-1]())
    monkeypatch.setattr("elmo.engine.row_packing._TILE", 1)
    weights = weights_of(24, 24, 50)
    stack = Stack([backends.layer(weights, SETTINGS[0], dtype)], [False], backward=False)
    vectors, lengths, hidden, cell = num_rows(weights, [9, 2, 0, 3, 1, 4, 4, 1])
    layers = np.zeros((2, *vectors.shape), np.float32)
    layers[0] = vectors
    found = read_stacks([stack], *_positions(layers), lengths, hidden[None], cell[None])
    outputs, *state = read(stack.layers[0], vectors, lengths, hidden, cell)
    np.testing.assert_array_equal(layers[1], outputs)
    for one, other in zip(found, state, strict=True):
        np.testing.assert_array_equal(one[0], other)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("way", [0, 1, 2])
def test_both_directions_and_skips_equal_one_layer_after_the_other(dtype, threads, way, monkeypatch):
    monkeypatch.setattr(
        "elmo.engine.stacks._autotuner.run", lambda _kind, _amount, variants: variants[min(way, len(variants) - 1)]()
    )
    monkeypatch.setattr("elmo.engine.stacks.num_threads", lambda: threads)
    chance, settings, lengths = np.random.default_rng(3), SETTINGS[0], np.array([4, 1, 0, 6])
    stacks = [
        Stack([backends.layer(weights_of(24, 24, 50, seed), settings, dtype) for seed in seeds], [False, True], turned)
        for seeds, turned in (((1, 3), False), ((2, 4), True))
    ]
    there = (np.arange(6) < lengths[:, None])[:, :, None]
    vectors = (chance.standard_normal((4, 6, 24)) * there).astype(np.float32)
    layers = np.zeros((3, 4, 6, 48), np.float32)
    layers[0] = np.tile(vectors, 2)
    hidden, cell = (chance.standard_normal((2, 4, size)).astype(np.float32) for size in (48, 100))
    before = hidden.copy(), cell.copy()
    new_hidden, new_cell = read_stacks(stacks, *_positions(layers), lengths, hidden, cell)
    np.testing.assert_array_equal(hidden, before[0])
    np.testing.assert_array_equal(cell, before[1])
    for place, stack in enumerate(stacks):
        turn = _turned if stack.backward else lambda values, _: values
        inputs = turn(vectors, lengths)
        for index, layer in enumerate(stack.layers):
            state = (np.split(part[index], 2, axis=1)[place] for part in (hidden, cell))
            outputs, *after = read(layer, inputs, lengths, *state, skips=stack.skips[index])
            inputs = outputs
            found = layers[index + 1, :, :, 24 * place : 24 * (place + 1)]
            np.testing.assert_array_equal(found, turn(outputs, lengths))
            np.testing.assert_array_equal(np.split(new_hidden[index], 2, axis=1)[place], after[0])
            np.testing.assert_array_equal(np.split(new_cell[index], 2, axis=1)[place], after[1])


def _positions(layers):
    """All rows one after the other, in the same memory, and where each begins."""
    _, batch, tokens, dim = layers.shape
    return layers.reshape(-1, batch * tokens, dim), np.arange(batch) * tokens


def _turned(values, lengths):
    """Each row reversed within its own length."""
    rows = zip(values, lengths, strict=True)
    return np.stack([np.concatenate([row[:length][::-1], row[length:]]) for row, length in rows])


def test_gates_far_out_of_range_stay_exact(dtype):
    """Logistic functions and tanh of large numbers are 0 and 1, whatever the exponential can hold."""
    bias = np.array([900.0, -900, 60, 0] * 4, np.float32)
    weights = LayerWeights(np.zeros((16, 4), np.float32), np.zeros((16, 4), np.float32), bias, None)
    settings = LSTMSettings(0.0, None, None)
    rows = (np.zeros((1, 3, 4), np.float32), np.array([3]), np.zeros((1, 4), np.float32))
    cell = np.array([[1e6, -1e6, 5.0, 0.0]], np.float32)
    expected = expected_of(*rows, cell, weights, settings)
    for one, other in zip(read(backends.layer(weights, settings, dtype), *rows, cell), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)
