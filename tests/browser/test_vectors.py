"""elmo.js computes the vectors of Python's Embedder."""

from dataclasses import replace

import numpy as np
import pytest
from tests.browser.in_node import PACKAGE, Refused, as_arrays, base64_of, random_checkpoint, sentences_of

from elmo.config import BiLMConfig, LSTMSettings
from elmo.embed.embedder import Embedder
from elmo.engine.plain import PlainLayer
from elmo.engine.row_packing import RowBatch, schedule
from elmo.engine.weight_store import LayerWeights
from elmo.weights.native.narrow import quantized
from elmo.weights.native.write import write

# Two float32 sums of the same factors differ by 1e-5 where LSTMs have amplified it (numpy and C by 1.3e-5).
NEAR = 5e-5
EMBED = """
const elmo = await load(given.folder, { exact: given.exact ?? true });
const batch = elmo.embed(given.sentences);
const alone = given.sentences.map((sentence) => elmo.embed(sentence));
const same = alone.every((one, index) =>
  Buffer.compare(Buffer.from(one.data.buffer), Buffer.from(batch[index].data.buffer)) === 0);
return { same, vectors: batch.map((one) => ({ ...one, data: floats(one.data) })) };
"""


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("count", [6, pytest.param(64, marks=pytest.mark.slow)])
def test_the_bundled_models_have_the_vectors_of_python_alone_and_in_a_batch(language, count, javascript):
    folder, sentences = PACKAGE / "bundled" / f"small-{language}", sentences_of(language, count)
    found = javascript(EMBED, folder=str(folder), sentences=sentences)
    expected = Embedder.from_pretrained(folder, dtype="float32", device="cpu").embed(sentences)
    assert found["same"]
    for one, other in zip(as_arrays(found["vectors"]), expected, strict=True):
        assert np.abs(one - other).max() <= NEAR


TINY = BiLMConfig(
    character_dim=4, max_characters_per_token=12, filters=((1, 5), (2, 7), (3, 9)), num_highway=1, cell_size=32,
    projection_size=8, num_layers=2,
)  # fmt: skip
VARIANTS = {
    "published switches": TINY,
    "cells that fill no vector": replace(TINY, cell_size=21, projection_size=5),
    "no projection of the cell": replace(TINY, cell_size=16, projection_size=16),
    "forward alone": replace(TINY, direction="forward"),
    "backward alone": replace(TINY, direction="backward"),
    "tanh and no highway": replace(TINY, activation="tanh", num_highway=0, num_layers=3),
    "no projection of the token": replace(TINY, token_projection=False, projection_size=21),
    "no clips, no skips, another forget bias": replace(
        TINY, cell_clip=None, projection_clip=None, skip_connections=False, forget_bias=0.0
    ),
    "an odd width of characters": replace(TINY, character_dim=3),
    "more than a panel of everything": replace(
        TINY, filters=((1, 70), (3, 70)), cell_size=150, projection_size=70, num_highway=2
    ),
}
SENTENCES = [
    ["a"], [], ["the", "bank", "of", "the", "river"], ["", "<S>", "학교에서", "x" * 40], ["b"] * 17, ["c", "d"],
    ["e"] * 3,
]  # fmt: skip


@pytest.mark.parametrize("name", VARIANTS)
def test_every_architecture_that_is_read_has_the_vectors_of_python(name, javascript, tmp_path):
    write(random_checkpoint(VARIANTS[name]), tmp_path / "model")
    require_near(javascript, tmp_path / "model")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8"])
@pytest.mark.parametrize("config", [TINY, VARIANTS["more than a panel of everything"], replace(TINY, character_dim=3)])
def test_every_stored_type_has_the_vectors_of_python(dtype, config, javascript, tmp_path):
    write(random_checkpoint(config), tmp_path / "model", dtype=dtype)
    require_near(javascript, tmp_path / "model")


def require_near(javascript, folder):
    found = javascript(EMBED, folder=str(folder), sentences=SENTENCES)
    expected = Embedder.from_pretrained(folder, dtype="float32", device="cpu").embed(SENTENCES)
    assert found["same"]
    for one, other in zip(as_arrays(found["vectors"]), expected, strict=True):
        assert one.shape == other.shape
        assert np.abs(one - other).max(initial=0) <= NEAR


def test_int8_is_as_coarse_as_in_python(javascript):
    """Where two sums round to different steps both are right, so single values may differ by more."""
    folder, sentences = PACKAGE / "bundled" / "small-en", sentences_of("en", 6)
    found = javascript(EMBED, folder=str(folder), sentences=sentences, exact=False)
    assert found["same"]
    exact = Embedder.from_pretrained(folder, dtype="float32", device="cpu").embed(sentences)
    coarse = Embedder.from_pretrained(folder, dtype="int8", device="cpu").embed(sentences)

    def error(vectors):
        return np.mean([np.abs(one - other).mean() for one, other in zip(vectors, exact, strict=True)])

    assert 0.5 * error(coarse) < error(as_arrays(found["vectors"])) < 1.1 * error(coarse)


# One layer on inputs that the test chooses, with the kernels of a kind.
LAYER = """
const { Kernels, KIND } = await module("kernels.js");
const { schedule } = await module("schedule.js");
const { readFileSync } = await import("node:fs");
const kernels = await Kernels.compile(readFileSync(given.wasm));
const tensor = ({ type, shape, data, steps }) => ({ type, shape, bytes: bytes(data), steps: steps && bytes(steps) });
const { dim, size, cells, lengths } = given;
const kind = KIND[given.kind];
const [input, recurrent] = ["input", "recurrent"].map((name) => kernels.weight(kind, tensor(given[name]), { cells }));
const projection = kernels.weight(kind, tensor(given.projection));
const bias = kernels.bias(tensor(given.bias), { cells, forget: 1 });
const layer = kernels.layer(input, recurrent, projection, bias, { dim, size, cells, cellClip: 3, projectionClip: 3 });
const inputs = kernels.put(bytes(given.inputs));
const tokens = bytes(given.inputs).length / 4 / dim;
const outputs = kernels.room(4 * tokens * size);
let at = 0;
const starts = lengths.map((length) => (at += length) - length);
kernels.readLayer(kind, layer, schedule(starts, lengths, given.backward), inputs, outputs, size, 0);
return floats(kernels.floats(outputs, tokens * size));
"""
SIZE, CELLS, LENGTHS = 24, 48, [7, 4, 3, 1]


def random_layer() -> LayerWeights:
    rng = np.random.default_rng(3)
    shapes = [(4 * CELLS, SIZE), (4 * CELLS, SIZE), (4 * CELLS,), (SIZE, CELLS)]
    return LayerWeights(*(rng.normal(0, 0.3, shape).astype(np.float32) for shape in shapes))


def run_layer(javascript, kind, weights, inputs, *, backward=False):
    def stored(weight):
        whole, steps = quantized(weight)
        return {"type": "I8", "shape": weight.shape, "data": base64_of(whole), "steps": base64_of(steps)}

    given = {name: stored(getattr(weights, f"{name}_weight")) for name in ("input", "recurrent", "projection")}
    given["bias"] = {"type": "F32", "shape": weights.bias.shape, "data": base64_of(weights.bias)}
    wasm = str(PACKAGE / "browser" / "elmo.wasm")
    sizes = {"dim": SIZE, "size": SIZE, "cells": CELLS, "lengths": LENGTHS, "backward": backward}
    return javascript(LAYER, kind=kind, wasm=wasm, inputs=base64_of(inputs), **sizes, **given).reshape(-1, SIZE)


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("kind", ["int8", "storedInt8"])
def test_a_layer_is_that_of_numpy(kind, backward, javascript):
    weights = random_layer()
    if kind == "storedInt8":  # the same weights, in float32
        parts = {name: quantized(value) for name, value in weights._asdict().items() if name != "bias"}
        weights = weights._replace(**{name: whole * steps for name, (whole, steps) in parts.items()})
    inputs = np.random.default_rng(4).normal(0, 1, (sum(LENGTHS), SIZE)).astype(np.float32)
    outputs = np.zeros_like(inputs)
    lengths = np.array(LENGTHS)
    state = np.zeros((len(LENGTHS), SIZE), np.float32), np.zeros((len(LENGTHS), CELLS), np.float32)
    steps = schedule(np.cumsum(lengths) - lengths, lengths, backward=backward)
    dtype = "int8" if kind == "int8" else "float32"
    PlainLayer(weights, LSTMSettings(1.0, 3.0, 3.0), dtype).run(RowBatch(steps, inputs, outputs, *state, False))
    assert np.abs(run_layer(javascript, kind, weights, inputs, backward=backward) - outputs).max() < 2e-6


@pytest.mark.parametrize("kind", ["int8", "storedInt8"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_a_number_stays_one_in_its_own_sentence(kind, value, javascript):
    weights = random_layer()
    inputs = np.random.default_rng(4).normal(0, 1, (sum(LENGTHS), SIZE)).astype(np.float32)
    clean = run_layer(javascript, kind, weights, inputs)
    inputs[9, 5] = value  # the third token of the second sentence
    found = run_layer(javascript, kind, weights, inputs)
    touched = np.isnan(found).all(axis=1)
    assert list(np.flatnonzero(touched)) == [9, 10]
    np.testing.assert_array_equal(found[~touched], clean[~touched])


def test_wide_rows_keep_what_a_float_has(javascript):
    """Sums of whole numbers, 2^-30 of the largest factor: nearer to the true ones than sums of floats."""
    rng = np.random.default_rng(5)
    rows = (rng.normal(0, 1, (3, 1024)) * np.array([[1e-30], [1.0], [1e30]])).astype(np.float32)
    weight = rng.normal(0, 1, (64, 1024)).astype(np.float32)
    whole, steps = quantized(weight)
    code = """
    const { Kernels, KIND } = await module("kernels.js");
    const { readFileSync } = await import("node:fs");
    const kernels = await Kernels.compile(readFileSync(given.wasm));
    const weight = { type: "I8", shape: [64, 1024], bytes: bytes(given.whole), steps: bytes(given.steps) };
    const place = kernels.weight(KIND.storedInt8, weight);
    const bias = kernels.bias({ type: "F32", shape: [64], bytes: new Uint8Array(256) });
    const rows = new Float32Array(bytes(given.rows).buffer);
    return [0, 1024, 2048].map((at) =>
      floats(kernels.logits(KIND.storedInt8, place, bias, rows.slice(at, at + 1024), 64)));
    """
    given = {"whole": base64_of(whole), "steps": base64_of(steps), "rows": base64_of(rows)}
    found = np.array(javascript(code, wasm=str(PACKAGE / "browser" / "elmo.wasm"), **given))
    expected = rows.astype(np.float64) @ (whole * steps.astype(np.float64)).T
    size = np.abs(rows).astype(np.float64) @ np.abs(whole * steps).T  # of what is added up
    # Eight chunks of 128 groups at most are added up in float32, each after four roundings of 2^-24.
    assert (np.abs(found - expected) <= 12 * 2.0**-24 * size).all()


def test_a_sentence_must_be_tokens(javascript):
    folder = str(PACKAGE / "bundled" / "small-ko")
    code = "const elmo = await load(given.folder); return elmo.embed(given.tokens);"
    with pytest.raises(Refused, match="tokens is string, but a sentence is an array of tokens. Split raw text first"):
        javascript(code, folder=folder, tokens="은행에 갔다")
    with pytest.raises(Refused, match=r"sentences\[1\]\[0\] is number, but a token is a string"):
        javascript(code, folder=folder, tokens=[["은행에"], [3]])
