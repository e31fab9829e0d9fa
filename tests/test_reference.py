"""The reference: vectors of the original implementations, from a checkpoint's tensors, one token at a time."""

import json
import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import h5py
import numpy as np
import pytest

import elmo
from elmo import reference
from elmo.weights import formats, hub

FLOATS = (np.float32, np.float64)
TIGHT = 2e-5  # arrays computed in float32, weights of ordinary size


def read(path, dtype=np.float64):
    """Config and tensors of a checkpoint, the tensors in `dtype`."""
    checkpoint = formats.read(path)
    return checkpoint.config, {name: tensor.astype(dtype) for name, tensor in checkpoint.tensors.items()}


def vectors_of(config, tensors, sentence):
    """The token vectors of a sentence and its boundaries."""
    ids = [reference.character_ids(token, config.max_characters_per_token) for token in ("<S>", *sentence, "</S>")]
    return np.stack([reference.token_vector(config, tensors, characters) for characters in ids])


def run(config, tensors, batches):
    """For each batch the layers of its sentences, with boundaries, and the states of all rows so far, carried on."""
    states = {}
    for batch in batches:
        layers = []
        for row, sentence in enumerate(batch):
            found, states[row] = reference.bilm(config, tensors, vectors_of(config, tensors, sentence), states.get(row))
            layers.append(found)
        yield layers, states


def rounding_of(golden):
    """How far float64 is from a case's arrays, which were computed in float32: measured when they were made."""
    cases = json.loads((golden.folder.parent / "cases.json").read_text(encoding="utf-8"))
    return next(case["fp32_vs_fp64"] for case in cases if case["case"] == golden.folder.name)


def assert_close(found, expected, tolerance):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


def test_character_ids_equal_those_of_batch_to_ids(golden):
    for number, batch in enumerate(golden.batches):
        expected = golden.expected[f"b{number}_char_ids"]
        for row, sentence in enumerate(batch):
            for place, token in enumerate(sentence):
                np.testing.assert_array_equal(reference.character_ids(token), expected[row, place])


@pytest.mark.parametrize("dtype", FLOATS)
def test_layers_and_states_equal_published_vectors(golden, dtype):
    config, tensors = read(golden.files, dtype)
    rounding = rounding_of(golden)
    of_layers, of_states = (
        golden.tolerance if dtype == np.float32 else 1.05 * rounding[part] for part in ("layers", "states")
    )
    for number, (layers, states) in enumerate(run(config, tensors, golden.batches)):
        for row, of_sentence in enumerate(layers):
            assert of_sentence.dtype == dtype
            for index, layer in enumerate(of_sentence):
                assert_close(layer, golden.expected[f"b{number}_layer{index}"][row, : layer.shape[0]], of_layers)
        for part, (row, layer) in product((0, 1), product(states, range(config.num_layers))):
            found = np.concatenate([states[row][direction, layer][part] for direction in config.directions])
            assert_close(found, golden.expected[f"b{number}_state_{'hc'[part]}"][layer, row], of_states)


@pytest.mark.parametrize("dtype", FLOATS)
def test_mixes_equal_published_vectors(golden, dtype):
    """A layer's mean and variance are those of the whole batch, so its sentences are mixed as one."""
    config, tensors = read(golden.files, dtype)
    tolerance = golden.tolerance if dtype == np.float32 else 1.05 * rounding_of(golden)["mixes"]
    for number, (layers, _) in enumerate(run(config, tensors, golden.batches)):
        ends = np.cumsum([of_sentence.shape[1] for of_sentence in layers])
        for index, setting in enumerate(golden.mixes):
            w = np.array(setting["scalar_mix_parameters"], dtype)
            together = np.concatenate(layers, axis=1)
            mixed = reference.scalar_mix(together, w, setting["gamma"], setting["do_layer_norm"])
            assert mixed.dtype == dtype
            inside = slice(None) if setting["keep_sentence_boundaries"] else slice(1, -1)
            for row, of_sentence in enumerate(np.split(mixed, ends[:-1])):
                found = of_sentence[inside]
                assert_close(found, golden.expected[f"b{number}_mix{index}"][row, : len(found)], tolerance)


def test_top_layer_equals_bilm_tf_on_its_own_fixture(shared):
    folder = shared / "golden" / "bilm_tf_fixture"
    config, tensors = read((folder / "options.json", folder / "lm_weights.hdf5"))
    lists = json.loads((folder / "lm_embeddings_sentences.json").read_text())
    batches = [[line.split() for line in lines] for lines in zip(*lists, strict=True)]
    for number, (layers, _) in enumerate(run(config, tensors, batches)):
        for row, of_sentence in enumerate(layers):
            with h5py.File(folder / f"lm_embeddings_{row}.hdf5") as file:
                expected = np.concatenate(file[str(number)][:], axis=1)
            assert_close(of_sentence[-1, 1:-1], expected, 2e-6)


def test_words_beside_characters_equal_elmo_for_many_langs(golden_folder, many_langs_checkpoint):
    checkpoint = many_langs_checkpoint
    tensors = {name: tensor.astype(np.float64) for name, tensor in checkpoint.tensors.items()}
    sentences = json.loads((golden_folder / "efml_word_and_char" / "sentences.json").read_text(encoding="utf-8"))

    def layers_of(sentence, state=None):
        begin, end = checkpoint.token_map.boundary_tokens
        ids = checkpoint.token_map.ids([begin, *sentence, end])
        pairs = zip(ids.characters, ids.words.tolist(), strict=True)
        x = [reference.token_vector(checkpoint.config, tensors, *pair) for pair in pairs]
        layers, state = reference.bilm(checkpoint.config, tensors, np.stack(x), state)
        return layers[:, 1:-1], state

    with np.load(golden_folder / "efml_word_and_char" / "expected.npz") as expected:
        by_length = [sorted(range(len(call)), key=lambda row: -len(call[row])) for call in sentences.values()]
        states = {}
        for place, row in enumerate(by_length[0]):
            layers, states[place] = layers_of(sentences["call0"][row])
            assert_close(layers, expected[f"call0_s{row}_all"], TIGHT)
            mean = reference.scalar_mix(layers, np.zeros(len(layers)))
            assert_close(mean, expected[f"call0_s{row}_avg"], TIGHT)
        for place, row in enumerate(by_length[1]):
            assert_close(layers_of(sentences["call1"][row])[0], expected[f"fresh1_s{row}_all"], TIGHT)
            assert_close(layers_of(sentences["call1"][row], states[place])[0], expected[f"call1_s{row}_all"], TIGHT)


def test_a_model_of_one_direction_has_that_half(tiny_checkpoint):
    config, tensors, tokens = tiny_checkpoint.config, tiny_checkpoint.tensors, ["a", "cat", "sat"]
    both = reference.embed(config, tensors, tokens)
    assert both.shape == (3, 3, 16)
    for direction, half in (("forward", both[..., :8]), ("backward", both[..., 8:])):
        found = reference.embed(replace(config, direction=direction), tensors, tokens)
        np.testing.assert_array_equal(found, half)


def test_a_layer_without_a_projection_gives_the_cells_output_unclipped():
    x, W, b = np.ones(2), np.ones((8, 2)), np.zeros(8)  # all four gates are 2, or 4 after a first step
    h, c = reference.lstm_step(x, np.zeros(2), np.full(2, 9.0), W, W, b, None, 1.0, 3.0, 0.5)
    np.testing.assert_array_equal(c, [3, 3])
    assert_close(h, np.tanh(3) / (1 + np.exp(-2)), 1e-15)


def test_an_empty_sentence_and_any_token_have_vectors(tiny_checkpoint):
    config, tensors = tiny_checkpoint.config, tiny_checkpoint.tensors
    assert reference.embed(config, tensors, []).shape == (3, 0, 16)
    assert np.isfinite(reference.embed(config, tensors, ["", "\ud800", "x" * 99, "밥"])).all()


@pytest.mark.parametrize("changes", [{"characters": "dictionary"}, {"num_words": 9, "word_dim": 2}])
def test_a_model_that_reads_more_than_bytes_needs_ids(tiny_checkpoint, changes):
    with pytest.raises(ValueError, match="embed makes ids of bytes, but .* token_map"):
        reference.embed(replace(tiny_checkpoint.config, **changes), tiny_checkpoint.tensors, ["a"])


@pytest.mark.parametrize("name", ["small-en", "small-ko"])
def test_the_bundled_models_give_the_embedders_vectors(name):
    config, tensors = read(hub.resolve(name))
    sentence = ["He", "sat", "by", "the", "강", "."]
    (found,) = elmo.Embedder.from_pretrained(name).embed([sentence])
    assert_close(found, reference.embed(config, tensors, sentence), TIGHT)


def test_a_sentence_is_as_probable_as_the_language_model_finds_it():
    checkpoint = formats.read(hub.resolve("small-en"))
    sentence = ["The", "bank", "lent", "money", "."]
    config, tensors, ids = checkpoint.config, checkpoint.tensors, {w: i for i, w in enumerate(checkpoint.vocabulary)}
    x, word_ids = vectors_of(config, tensors, sentence), [ids[token] for token in ("<S>", *sentence, "</S>")]
    top = reference.bilm(config, tensors, x[:-1])[0][-1], reference.bilm(config, tensors, x[1:])[0][-1]
    forward, backward = top[0][:, : config.projection_size], top[1][:, config.projection_size :]
    W, b = checkpoint.softmax["weight"], checkpoint.softmax["bias"]
    (expected,) = elmo.log_probabilities([sentence], "small-en")
    for outputs, targets, total in (
        (forward, word_ids[1:], expected.log_probability["forward"]),
        (backward, word_ids[:-1], expected.log_probability["backward"]),
    ):
        rows = [reference.log_probabilities(h, W, b) for h in outputs]
        assert np.exp(rows[0].astype(np.float64)).sum() == pytest.approx(1, abs=1e-5)
        assert sum(row[word] for row, word in zip(rows, targets, strict=True)) == pytest.approx(total, abs=1e-3)


def test_its_page_names_every_function_and_the_notebook_walks_through_them():
    root = Path(__file__).resolve().parents[1]
    page = (root / "docs/one-file.md").read_text(encoding="utf-8")
    notebook = (root / "docs/course/1-one-sentence.ipynb").read_text(encoding="utf-8")
    own = {name for name, it in vars(reference).items() if getattr(it, "__module__", "") == reference.__name__}
    shown = re.findall(r"^\| `(\w+)` \|", page, flags=re.MULTILINE)
    assert own - set(shown) == {"sigmoid", "clip"}
    assert {name for name in shown if f"`{name}`" not in notebook} == set()
