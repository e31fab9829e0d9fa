"""Matrices are held in one form, and what was laid out has every bit of what was given."""

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest

from elmo.engine.engine import Engine
from elmo.engine.panels import lay_out, restored
from elmo.engine.weight_store import StoredWeight
from elmo.ops.native.kinds import native_types
from elmo.weights.checkpoint import Checkpoint, content_hash
from elmo.weights.native.narrow import Narrow, are_quantized, bfloat16_bits, quantized
from elmo.weights.native.read import read
from elmo.weights.native.write import write

SHAPES = [(1, 1), (64, 4), (65, 7), (130, 33), (200, 64)]
ROUNDED = {
    "float32": np.asarray,
    "bfloat16": lambda w: Narrow(bfloat16_bits(w)),
    "int8": lambda w: Narrow(*quantized(w)),
}


def weight_of(shape):
    return np.random.default_rng(shape[1]).standard_normal(shape).astype(np.float32)


def embedded(engine, token_map):
    """A few vectors, so that everything is laid out."""
    ids = token_map.ids(["the", "bank", "of", "a", "river"])
    vectors = engine.token_vectors(ids.characters, ids.words)
    return engine.contextualize(vectors[None], np.array([5]))[0]


@pytest.mark.parametrize("dtype", ROUNDED)
def test_a_weight_comes_back_from_its_panels(dtype):
    for shape in SHAPES:
        stored = ROUNDED[dtype](weight_of(shape))
        held, order = StoredWeight(stored), np.random.default_rng(0).permutation(shape[0])
        lay_out(held, dtype, order)
        assert held.given is not stored
        np.testing.assert_array_equal(np.asarray(held), np.asarray(stored))


@pytest.mark.parametrize("dtype", ["bfloat16", "int8"])
def test_stored_factors_are_laid_out_as_if_they_were_rounded_again(dtype):
    for shape in SHAPES:
        stored = ROUNDED[dtype](weight_of(shape))
        for one, other in zip(lay_out(stored, dtype), lay_out(np.asarray(stored), dtype), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", ["bfloat16", "int8"])
def test_what_rounding_loses_is_kept(dtype):
    weight = weight_of((70, 9))
    held = StoredWeight(weight)
    panels = lay_out(held, dtype)
    assert held.given is weight
    order = np.concatenate([np.arange(70), np.full(58, -1)])
    assert not np.array_equal(restored(panels, (70, 9), dtype, order), weight)


def test_integers_that_nobody_here_wrote_are_rounded_like_any_values():
    """Rows whose largest integer isn't 127, or steps with more bits, would be rounded to others."""
    whole, steps = quantized(weight_of((4, 9)))
    assert are_quantized(whole, steps)
    assert are_quantized(np.zeros((2, 3), np.int8), np.zeros((2, 1), np.float32))
    assert not are_quantized(np.minimum(whole, 100), steps)
    assert not are_quantized(whole, np.nextafter(steps, np.float32(1)))
    assert not are_quantized(whole, -steps)
    foreign = Narrow(np.clip(whole, -100, 100), steps)
    for one, other in zip(lay_out(foreign, "int8"), lay_out(np.asarray(foreign), "int8"), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.usefixtures("backend")
def test_an_engine_lets_go_of_what_it_has_laid_out(tiny_checkpoint):
    name = "forward_lstm.layers.0.input_weight"
    own = {key: tensor.copy() for key, tensor in tiny_checkpoint.tensors.items()}
    given, engine = weakref.ref(own[name]), Engine(tiny_checkpoint.config, own)
    own.clear()
    before = embedded(engine, tiny_checkpoint.token_map)
    gc.collect()
    assert given() is None
    again = Engine(tiny_checkpoint.config, dict(engine.tensors))
    np.testing.assert_array_equal(embedded(again, tiny_checkpoint.token_map), before)
    assert content_hash(replace(tiny_checkpoint, tensors=engine.tensors)) == content_hash(tiny_checkpoint)


@pytest.mark.parametrize("stored", ["float32", "float16", "bfloat16", "int8"])
def test_a_model_in_few_bits_has_the_vectors_of_its_float32_tensors(tiny_checkpoint, tmp_path, stored, dtype):
    write(tiny_checkpoint, tmp_path / "model", dtype=stored)
    narrow, wide = (read(tmp_path / "model", narrow=choice) for choice in (True, False))
    one, other = (Engine.from_checkpoint(checkpoint, dtype) for checkpoint in (narrow, wide))
    np.testing.assert_array_equal(*(embedded(engine, wide.token_map) for engine in (one, other)))
    assert_same_tensors(one.tensors, wide)
    assert content_hash(narrow) == content_hash(wide)


def test_a_model_stored_in_int8_stays_in_int8(tiny_checkpoint, tmp_path):
    if "int8" not in native_types():
        pytest.skip("needs int8 products")
    write(tiny_checkpoint, tmp_path / "model", dtype="int8")
    checkpoint = read(tmp_path / "model", narrow=True)
    engine = Engine.from_checkpoint(checkpoint, "int8")
    name = "backward_lstm.layers.1.recurrent_weight"
    held = engine.tensors.held[name]
    assert isinstance(held, StoredWeight)
    assert held.given is checkpoint.tensors.held[name]  # type: ignore[attr-defined]
    embedded(engine, checkpoint.token_map)
    assert held.given is not checkpoint.tensors.held[name]  # type: ignore[attr-defined]


def assert_same_tensors(tensors, checkpoint: Checkpoint):
    assert tensors.keys() == checkpoint.tensors.keys()
    for name, tensor in checkpoint.tensors.items():
        np.testing.assert_array_equal(tensors[name], tensor, err_msg=name)
