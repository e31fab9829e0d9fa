"""The engine: golden vectors on every backend, bits that depend on the sentence alone, misuse."""

import json

import numpy as np
import pytest

from elmo import reference
from elmo.engine.engine import Engine, State, zero_state
from elmo.text.batches import number_tokens, pad
from elmo.weights import formats

EFML_TOLERANCE = 1e-4  # golden/README.md: safe for float32


def exactly(checkpoint, sentences):
    """The reference in double precision: all layers of one batch, with boundaries, and the state after it."""
    config, doubles = checkpoint.config, {name: one.astype(np.float64) for name, one in checkpoint.tensors.items()}
    layers = np.zeros((config.num_layers + 1, len(sentences), max(map(len, sentences)) + 2, config.output_dim))
    state = zero_state(config, len(sentences), np.float64)
    for row, sentence in enumerate(sentences):
        characters = [reference.character_ids(token) for token in ("<S>", *sentence, "</S>")]
        x = np.stack([reference.token_vector(config, doubles, one) for one in characters])
        layers[:, row, : len(x)], found = reference.bilm(config, doubles, x)
        for layer in range(config.num_layers):
            of_layer = [found[direction, layer] for direction in config.directions]
            state.hidden[layer, row], state.cell[layer, row] = map(np.concatenate, zip(*of_layer, strict=True))
    return layers, state


def all_layers(engine, token_map, sentences, state=None):
    """Of one batch, with boundaries."""
    distinct, places = number_tokens(sentences, token_map.boundary_tokens)
    ids = token_map.ids(distinct)
    batch = pad(places, np.arange(len(places)))
    return engine.contextualize(engine.token_vectors(ids.characters, ids.words)[batch.places], batch.lengths, state)


def continued(state, table):
    """AllenNLP's table of states: it grows with zeros and never shrinks."""
    kept = state.hidden.shape[1]
    return State(*(np.concatenate([new, old[:, kept:]], axis=1) for new, old in zip(state, table, strict=True)))


@pytest.mark.usefixtures("backend")
def test_layers_and_states_equal_published_vectors(golden):
    checkpoint = formats.read(golden.files)
    engine, table = Engine.from_checkpoint(checkpoint), zero_state(checkpoint.config, 0)
    for number, batch in enumerate(golden.batches):
        missing = zero_state(checkpoint.config, max(0, len(batch) - table.hidden.shape[1]))
        table = State(*(np.concatenate(pair, axis=1) for pair in zip(table, missing, strict=True)))
        layers, state = all_layers(engine, checkpoint.token_map, batch, table.rows(slice(len(batch))))
        table = continued(state, table)
        mask = golden.expected[f"b{number}_mask"].astype(bool)
        for layer, values in enumerate(layers):
            expected = golden.expected[f"b{number}_layer{layer}"]
            np.testing.assert_allclose(values, expected, rtol=0, atol=golden.tolerance)
            assert not values[~mask].any()
        for name, values in table._asdict().items():
            np.testing.assert_allclose(
                values, golden.expected[f"b{number}_state_{name[0]}"], rtol=0, atol=golden.tolerance
            )


@pytest.mark.usefixtures("backend")
def test_models_of_words_and_characters_equal_published_vectors(golden_folder, many_langs_checkpoint):
    folder, checkpoint = golden_folder / "efml_word_and_char", many_langs_checkpoint
    calls = json.loads((folder / "sentences.json").read_text(encoding="utf-8"))
    engine = Engine.from_checkpoint(checkpoint)
    with np.load(folder / "expected.npz") as expected:
        for place, sentence in enumerate(calls["call0"]):
            layers, _ = all_layers(engine, checkpoint.token_map, [sentence])
            found = layers[:, 0, 1:-1].mean(axis=0)
            np.testing.assert_allclose(found, expected[f"call0_s{place}_avg"], rtol=0, atol=EFML_TOLERANCE)


def test_every_type_stays_next_to_double_precision(tiny_checkpoint, tiny_corpus, dtype):
    # Of bfloat16 and int8 nearly all is the factors' own rounding, which is the same on every processor.
    tolerance = {"float32": 5e-6, "bfloat16": 0.1, "int8": 0.3}[dtype]
    token_map = tiny_checkpoint.token_map
    exact, exact_state = exactly(tiny_checkpoint, tiny_corpus)
    found, state = all_layers(Engine.from_checkpoint(tiny_checkpoint, dtype), token_map, tiny_corpus)
    assert found.dtype == state.cell.dtype == np.float32
    np.testing.assert_allclose(found, exact, rtol=0, atol=tolerance)
    for one, other in zip(state, exact_state, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=tolerance)


@pytest.mark.usefixtures("backend")
def test_a_sentence_has_the_same_bits_alone_and_in_any_company(tiny_checkpoint, tiny_corpus, dtype):
    engine, token_map = Engine.from_checkpoint(tiny_checkpoint, dtype), tiny_checkpoint.token_map
    together, _ = all_layers(engine, token_map, tiny_corpus * 7)
    for row, sentence in enumerate(tiny_corpus):
        alone, _ = all_layers(engine, token_map, [sentence])
        for copy_of in range(row, len(together[0]), len(tiny_corpus)):
            assert np.array_equal(together[:, copy_of, : len(sentence) + 2], alone[:, 0])


@pytest.mark.usefixtures("backend")
def test_a_long_row_equals_its_pieces(tiny_checkpoint):
    """Each direction continues in its own reading order."""
    engine, token_map = Engine.from_checkpoint(tiny_checkpoint), tiny_checkpoint.token_map
    vectors = engine.token_vectors(token_map.ids([f"w{number % 17}" for number in range(700)]).characters)
    whole, _ = engine.contextualize(vectors[None], np.array([700]))
    size = tiny_checkpoint.config.projection_size
    first, state = engine.contextualize(vectors[None, :300], np.array([300]))
    second, _ = engine.contextualize(vectors[None, 300:], np.array([400]), state)
    np.testing.assert_array_equal(first[..., :size], whole[:, :, :300, :size])
    np.testing.assert_array_equal(second[..., :size], whole[:, :, 300:, :size])


@pytest.mark.usefixtures("backend")
def test_nothing_and_empty_rows(tiny_checkpoint):
    engine, config = Engine.from_checkpoint(tiny_checkpoint), tiny_checkpoint.config
    assert engine.token_vectors(np.zeros((0, 50), np.int16)).shape == (0, config.projection_size)
    layers, state = engine.contextualize(np.zeros((0, 0, config.projection_size), np.float32), np.zeros(0, np.int64))
    assert layers.shape == (3, 0, 0, 16)
    layers, state = engine.contextualize(np.ones((2, 3, config.projection_size), np.float32), np.array([0, 0]))
    assert not layers.any()
    assert not state.hidden.any()


@pytest.mark.usefixtures("backend")
def test_rows_without_padding_have_the_same_bits(tiny_checkpoint, tiny_corpus, dtype):
    engine, token_map = Engine.from_checkpoint(tiny_checkpoint, dtype), tiny_checkpoint.token_map
    padded, padded_state = all_layers(engine, token_map, [*tiny_corpus, []])
    distinct, places = number_tokens([*tiny_corpus, []], token_map.boundary_tokens)
    ids = token_map.ids(distinct)
    batch = pad(places, np.arange(len(places)))
    vectors = engine.token_vectors(ids.characters, ids.words)[np.concatenate(batch.lines)]
    packed, state = engine.contextualize_packed(vectors, batch.lengths)
    there = np.arange(padded.shape[2]) < batch.lengths[:, None]
    np.testing.assert_array_equal(packed, padded[:, there])
    for one, other in zip(state, padded_state, strict=True):
        np.testing.assert_array_equal(one, other)
