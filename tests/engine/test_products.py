"""Products of both backends: close to double precision, each row on its own, the same factors rounded alike."""

import itertools

import numpy as np
import pytest

from elmo.engine import plain
from elmo.engine.backend import product
from elmo.engine.panels import lay_out
from elmo.engine.plain import PlainProduct, quantized_rows
from elmo.engine.weight_store import StoredWeight
from elmo.weights.native.narrow import quantized

pytestmark = pytest.mark.usefixtures("backend")

SHAPES = [(16, 64), (128, 512), (512, 128), (2048, 24), (1, 1), (3, 65), (4100, 30), (8448, 70)]
DTYPES = ("float32", "bfloat16", "int8")


def factors(rows, inner, outer):
    chance = np.random.default_rng(inner)
    weight = chance.standard_normal((outer, inner)) / inner**0.5
    parts = chance.standard_normal((rows, inner)), weight, chance.standard_normal(outer)
    return tuple(part.astype(np.float32) for part in parts)


def test_products_stay_next_to_double_precision(dtype, require_near_product):
    for (inner, outer), rows in itertools.product(SHAPES, (0, 1, 7, 130)):
        inputs, weight, bias = factors(rows, inner, outer)
        before = weight.copy()
        found = product(weight, dtype)(inputs, bias)
        assert (found.dtype, found.shape) == (np.float32, (rows, outer))
        case = f"{rows} rows, {inner} x {outer}"
        require_near_product(found, inputs, weight, bias, dtype, case)
        np.testing.assert_array_equal(weight, before, err_msg=case)


def test_no_row_feels_the_rows_beside_it(dtype):
    for inner, outer in SHAPES:
        inputs, weight, _ = factors(130, inner, outer)
        inputs[7] *= 1000
        made = product(weight, dtype)
        everything = made(inputs)
        for rows in (1, 2, 3, 5, 6, 7, 13, 64, 129):
            case = f"{rows} rows, {inner} x {outer}"
            np.testing.assert_array_equal(made(inputs[-rows:]), everything[-rows:], err_msg=case)


def test_int8_sums_are_those_of_the_integers():
    inputs, weight, _ = factors(9, 300, 70)
    whole, steps = quantized_rows(inputs)
    weights, weight_steps = quantized(weight)
    expected = (whole.astype(np.float64) @ weights.T.astype(np.float64)) * steps * weight_steps.T
    np.testing.assert_allclose(product(weight, "int8")(inputs), expected, rtol=1e-6, atol=1e-4)


def test_rows_of_zeros_stay_zeros():
    inputs, weight, _ = factors(2, 6, 5)
    for dtype in DTYPES:
        assert not product(weight, dtype)(np.zeros((2, 6), np.float32)).any()
        assert not product(np.zeros((5, 6), np.float32), dtype)(inputs).any()


def test_a_weight_rounded_to_int8_rounds_to_the_same_again():
    chance = np.random.default_rng(0)
    weight = (chance.standard_normal((500, 40)) * 10.0 ** chance.integers(-6, 6, (500, 1))).astype(np.float32)
    weight[3] = 0
    whole, steps = quantized(weight)
    again, same_steps = quantized(whole * steps)
    np.testing.assert_array_equal(whole, again)
    np.testing.assert_array_equal(steps, same_steps)
    assert np.abs(whole).max() == 127


def test_panels_begin_at_a_cache_line(dtype):
    """Instructions of 64 bytes are slower across two lines."""
    weights = lay_out(factors(1, 70, 100)[1], dtype).weights
    assert weights.__array_interface__["data"][0] % 64 == 0
    assert weights.shape == (2, -(-70 // {"float32": 1, "bfloat16": 2, "int8": 4}[dtype]), 64)


@pytest.mark.parametrize("blocks", ["those that were tried", "whole weights"])
def test_the_rows_of_a_plain_product_come_out_alike_in_every_place(blocks, monkeypatch):
    """Whether or not this BLAS has blocks of several sizes with the same bits."""
    plain._blocks.cache_clear()
    if blocks == "whole weights":
        monkeypatch.setattr(plain, "_rows_alike", lambda *sizes: set())
    for dtype, (inner, outer) in itertools.product(DTYPES, [(512, 300), (300, 64), (40, 16), (1, 1)]):
        _, weight, _ = factors(1, inner, outer)
        held = StoredWeight(weight)
        made = PlainProduct(held, dtype)
        np.testing.assert_array_equal(np.asarray(held), weight)
        row = np.random.default_rng(5).standard_normal((1, inner)).astype(np.float32)
        for rows in (1, 2, 3, 7, 40, 130):
            found = made(np.repeat(row, rows, axis=0))
            np.testing.assert_array_equal(found, np.repeat(made(row), rows, axis=0), err_msg=f"{dtype}, {weight.shape}")
    plain._blocks.cache_clear()
