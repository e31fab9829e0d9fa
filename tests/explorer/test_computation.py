"""The steps of a token, as the page computes them, are those of the paper in one file."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from tests.explorer import computed
from tests.explorer.answers import plain

from elmo import reference
from elmo.embed.embedder import Embedder
from elmo.explorer.explored import Explored
from elmo.serve.models import ServedModel
from elmo.weights.checkpoint import Checkpoint

CUTS, SHOWN, MOST_READ = (0, 1, 2, 3, 4, 6, 8), 32, 24
SENTENCE = ["the", "cats", "sat", "on", "the", "mat", "."]
LETTERS = ["spring", "연기", "x" * 60, "가" * 20, "<S>", "é\u0301", "a\ud800b", "\N{GRINNING FACE}"]
# Of numbers with four significant digits: half a unit of the last one.
ROUNDED = {"rtol": 5.01e-4, "atol": 1e-6}


def steps(checkpoint: Checkpoint, tokens=SENTENCE, place=1) -> SimpleNamespace:
    return computed.steps(checkpoint, [(tokens, place)])[0]


def close(found, expected, **bounds) -> None:
    np.testing.assert_allclose(found, expected, **{**ROUNDED, **bounds})


@pytest.mark.parametrize("place", [0, 3, 6])
def test_all_layers_are_those_of_the_paper(tiny_checkpoint, place):
    expected = reference.embed(tiny_checkpoint.config, tiny_checkpoint.tensors, SENTENCE)[:, place]
    close(steps(tiny_checkpoint, place=place).layers, expected)


@pytest.mark.parametrize("changes", [{"skip_connections": False}, {"cell_clip": None}, {"forget_bias": 0.0}])
def test_so_they_are_by_another_architecture(tiny_checkpoint, changes):
    other = replace(tiny_checkpoint, config=replace(tiny_checkpoint.config, **changes))
    close(steps(other).layers, reference.embed(other.config, other.tensors, SENTENCE)[:, 1])


def test_a_model_of_one_direction_has_one_reading(tiny_checkpoint):
    other = replace(tiny_checkpoint, config=replace(tiny_checkpoint.config, direction="backward"))
    found = steps(other)
    assert [reading.direction for reading in found.readings] == ["backward"]
    close(found.layers, reference.embed(other.config, other.tensors, SENTENCE)[:, 1])


@pytest.mark.parametrize("token", LETTERS)
def test_the_letters_hold_the_ids_of_the_token(tiny_checkpoint, token):
    most = tiny_checkpoint.config.max_characters_per_token
    found = steps(tiny_checkpoint, ["a", token], 1)
    ids = [one for letter in found.letters for one in letter.ids]
    padded = reference.character_ids(token, most)
    assert ids == padded[: len(ids)].tolist() and set(padded[len(ids) :]) <= {261}
    assert found.letters[0].text is None and found.letters[-1].text is None
    size = len(token.encode(errors="ignore"))
    assert found.cut == (0 if token == "<S>" else max(0, size - (most - 2)))
    if found.cut == 0 and token != "a\ud800b":
        assert "".join(letter.text for letter in found.letters[1:-1]) == token


def test_a_filter_fires_on_the_bytes_that_it_says(tiny_checkpoint):
    config, tensors = tiny_checkpoint.config, tiny_checkpoint.tensors
    ids = reference.character_ids("cats", config.max_characters_per_token)
    weights = [
        (tensors[f"token_encoder.convolutions.{i}.weight"], tensors[f"token_encoder.convolutions.{i}.bias"])
        for i in range(len(config.filters))
    ]
    embedding = tensors["token_encoder.character_embedding"]
    y = reference.char_cnn(ids, embedding, weights, config.activation)
    found = steps(tiny_checkpoint)
    assert found.shown == sorted(np.argsort(-y, kind="stable")[:SHOWN].tolist())
    close(found.features, y[found.shown])
    first, covered = 0, np.zeros(6)
    for (W, b), filters in zip(weights, found.filters, strict=True):
        values = y[first : first + len(b)]
        assert filters.positive == (values > 0).sum()
        assert [one.index for one in filters.best] == np.argsort(-values, kind="stable")[: len(filters.best)].tolist()
        for one in filters.best:
            window = embedding[ids[one.start : one.start + filters.width]]
            close(
                b[one.index] + (W[one.index].T * window).sum(),
                y[first + one.index] if one.value else one.profile[one.start] + one.bias,
                atol=1e-4,
            )
            assert max(one.profile) == one.profile[one.start]
        for i in np.flatnonzero(values > 0):
            outputs = [
                (W[i].T * embedding[ids[t : t + filters.width]]).sum() for t in range(len(ids) - filters.width + 1)
            ]
            start = int(np.argmax(outputs))
            covered[start : start + filters.width] += 1
        first += len(b)
    assert found.covered == covered.tolist()


def test_a_highway_layer_carries_what_its_gate_leaves(tiny_checkpoint):
    assert (layers := steps(tiny_checkpoint).highways)
    for layer in layers:
        before, gate, transformed, after = map(np.array, (layer.before, layer.gate, layer.transformed, layer.after))
        close(gate * transformed + (1 - gate) * before, after, rtol=2e-3, atol=1e-4)
        assert sum(layer.histogram) == tiny_checkpoint.config.num_filters


def test_the_memory_is_what_the_tokens_wrote(tiny_checkpoint):
    for reading in steps(tiny_checkpoint).readings:
        for layer in reading.layers:
            assert sum(read.share for read in layer.reads) + layer.earlier == pytest.approx(1, abs=2e-3)
            cell = layer.cell
            kept = cell.forget * cell.before + cell.input * cell.candidate
            assert cell.after == pytest.approx(np.clip(kept, -3, 3), rel=2e-3, abs=1e-4)


def test_a_forget_gate_of_zero_leaves_nothing_of_the_tokens_before(tiny_checkpoint):
    tensors = dict(tiny_checkpoint.tensors)
    size = tiny_checkpoint.config.cell_size
    for name in [name for name in tensors if name.endswith("lstm.layers.0.bias")]:
        tensors[name] = tensors[name].copy()
        tensors[name][size : 2 * size] = -1000
    for reading in steps(replace(tiny_checkpoint, tensors=tensors)).readings:
        assert [read.share for read in reading.layers[0].reads][-1] == 1


def test_a_cut_is_the_cosine_with_the_shorter_sentence(tiny_checkpoint):
    config, tensors, place = tiny_checkpoint.config, tiny_checkpoint.tensors, 5
    forward, backward = steps(tiny_checkpoint, place=place).readings
    assert [cut.words for cut in forward.cuts] == [words for words in CUTS if words < 5]
    whole = reference.embed(config, tensors, SENTENCE)[1:, place]
    half = config.projection_size
    for cut in forward.cuts:
        short = reference.embed(config, tensors, SENTENCE[place - cut.words :])[1:, cut.words]
        close(cut.cosines, [cosine(a[:half], b[:half]) for a, b in zip(short, whole, strict=True)], atol=1e-5)
    for cut in backward.cuts:
        short = reference.embed(config, tensors, SENTENCE[: place + 1 + cut.words])[1:, place]
        close(cut.cosines, [cosine(a[half:], b[half:]) for a, b in zip(short, whole, strict=True)], atol=1e-5)


def test_of_a_long_sentence_the_nearest_tokens_are_shown(tiny_checkpoint):
    found = steps(tiny_checkpoint, SENTENCE * 8, 50)
    assert [len(layer.reads) for reading in found.readings for layer in reading.layers] == [MOST_READ, MOST_READ, 7, 7]
    assert [reading.tokens for reading in found.readings] == [52, 7]


def test_a_model_that_reads_other_things_or_has_a_state_is_not_followed(explored, many_langs_checkpoint, monkeypatch):
    assert explored.info().has_computation
    assert not Explored(ServedModel("other", Embedder(many_langs_checkpoint))).info().has_computation
    monkeypatch.setattr(explored.model.embedder, "state", "warm")
    assert not explored.info().has_computation


@pytest.mark.parametrize("model", ["small-en", "small-ko"])
def test_the_layers_are_the_embedders(models, model):
    for example in models[model].info().examples[:2]:
        for tokens, place in zip(example.sentences, example.places, strict=True):
            found = computed.computation(models[model], (tokens, place))
            (layers,) = models[model].model.embedder.embed([tokens])
            close(found.layers, layers[:, place], atol=1e-5)
            assert len(json.dumps(plain(found))) < 130_000


def test_a_long_sentence_is_below_130_kilobytes(models):
    found = computed.computation(models["small-en"], (SENTENCE * 28, 90))
    assert len(json.dumps(plain(found))) < 130_000


def cosine(a, b) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
