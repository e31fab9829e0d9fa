"""Embedder: golden layers, steadiness, layer choices, states, errors."""

import json
import pickle
import shutil
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest

from elmo.embed.embedder import Embedder
from elmo.errors import ConfigError, WeightFileError
from elmo.weights.native.read import read
from elmo.weights.native.write import write

EFML_TOLERANCE = 1e-4
# The tiny model's large weights amplify what a product's shape does to its rounding.
TINY_TOLERANCE = 2e-5


def test_layers_and_states_equal_published_vectors(golden):
    embedder = Embedder.from_pretrained(golden.files, device="cpu", state="carry", keep_boundaries=True)
    for number, batch in enumerate(golden.batches):
        arrays = embedder.embed(batch)
        lengths = golden.expected[f"b{number}_mask"].sum(axis=1)
        for row, array in enumerate(arrays):
            for layer in range(embedder.num_layers):
                expected = golden.expected[f"b{number}_layer{layer}"][row, : lengths[row]]
                np.testing.assert_allclose(array[layer], expected, rtol=0, atol=golden.tolerance)
        state = embedder.state_dict()
        for name in ("hidden", "cell"):
            expected = golden.expected[f"b{number}_state_{name[0]}"]
            np.testing.assert_allclose(state[name], expected, rtol=0, atol=golden.tolerance)


def test_first_batches_from_zero_state_equal_published_vectors_whatever_the_batching(golden):
    embedder = Embedder.from_pretrained(golden.files, device="cpu", max_tokens=6)
    for row, array in enumerate(embedder.embed(golden.batches[0])):
        for layer in range(embedder.num_layers):
            expected = golden.expected[f"b0_layer{layer}"][row, 1 : 1 + array.shape[1]]
            np.testing.assert_allclose(array[layer], expected, rtol=0, atol=golden.tolerance)


def test_many_langs_vectors_carry_over_as_published(golden_folder, many_langs_checkpoint):
    folder = golden_folder / "efml_word_and_char"
    calls = json.loads((folder / "sentences.json").read_text(encoding="utf-8"))
    embedder = Embedder.from_pretrained(many_langs_checkpoint, device="cpu", state="carry")
    with np.load(folder / "expected.npz") as expected:
        for name, sentences in calls.items():
            # ELMoForManyLangs sorts each call by length, and its rows are those of the sorted batch.
            order = np.argsort([-len(sentence) for sentence in sentences], kind="stable")
            for place, array in zip(order, embedder.embed([sentences[place] for place in order]), strict=True):
                np.testing.assert_allclose(array, expected[f"{name}_s{place}_all"], rtol=0, atol=EFML_TOLERANCE)


def test_bilm_tf_fixture_is_reproduced_batch_after_batch(shared):
    folder = shared / "golden" / "bilm_tf_fixture"
    lists = json.loads((folder / "lm_embeddings_sentences.json").read_text(encoding="utf-8"))
    files = folder / "options.json", folder / "lm_weights.hdf5"
    embedder = Embedder.from_pretrained(files, device="cpu", state="carry")
    sentences = [row[number] for number in range(10) for row in lists]
    arrays = list(embedder.embed_iter(sentences, layers="top", window=len(lists)))
    for row in range(len(lists)):
        with h5py.File(folder / f"lm_embeddings_{row}.hdf5") as file:
            for number in range(10):
                expected = np.concatenate(file[str(number)], axis=1)
                found = arrays[number * len(lists) + row]
                np.testing.assert_allclose(found, expected, rtol=0, atol=5e-6)


def test_an_over_long_sentence_keeps_its_vectors_when_read_in_pieces(tiny_checkpoint):
    sentence = [f"w{number % 17}" for number in range(300)]
    whole = Embedder(tiny_checkpoint).embed([sentence])[0]
    cut = Embedder(tiny_checkpoint).embed([sentence[:150], sentence[150:]])
    assert np.abs(np.concatenate(cut, axis=1) - whole).max() > 1e-3
    for max_tokens in (1, 7, 64):
        found = Embedder(tiny_checkpoint, max_tokens=max_tokens).embed([["short"], sentence])[1]
        np.testing.assert_allclose(found, whole, rtol=0, atol=1e-6)


def test_a_carried_batch_is_whole_whatever_max_tokens(tiny_checkpoint, tiny_corpus):
    one, other = (Embedder(tiny_checkpoint, state="carry", max_tokens=most) for most in (20, None))
    for _ in range(2):
        for found, expected in zip(one.embed(tiny_corpus), other.embed(tiny_corpus), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_shapes_follow_the_sentences_and_arrays_own_their_memory(embedder, tiny_corpus):
    arrays = embedder.embed(tiny_corpus)
    assert [array.shape for array in arrays] == [(3, len(sentence), 16) for sentence in tiny_corpus]
    assert all(array.dtype == np.float32 and array.flags.owndata and array.flags.c_contiguous for array in arrays)
    assert embedder.embed([]) == []
    assert [array.shape for array in embedder.embed([[], ""])] == [(3, 0, 16)] * 2
    assert [array.shape for array in embedder.embed([[], ["a"]], layers="top")] == [(0, 16), (1, 16)]
    assert (embedder.num_layers, embedder.layer_dim) == (3, 16)


def test_strings_are_split_and_odd_tokens_are_tokens(embedder):
    split, listed = embedder.embed(["a  b\tc", ["a", "b", "c"]])
    np.testing.assert_array_equal(split, listed)
    odd = embedder.embed([["", "a b", "\ud800", "x" * 100_000, "\0"]])[0]
    assert odd.shape == (3, 5, 16)
    assert np.isfinite(odd).all()
    assert not np.allclose(odd[0, 0], odd[0, 1])


def test_layer_choices_are_sums_of_all_layers(embedder, tiny_corpus):
    everything = embedder.embed(tiny_corpus)
    weights = [0.5, -1, 2]
    choices = {
        "average": lambda array: array.mean(axis=0),
        "top": lambda array: array[-1],
        0: lambda array: array[0],
        -2: lambda array: array[1],
        tuple(weights): lambda array: np.tensordot(weights, array, axes=1),
        (0, 0, 0): lambda array: array[0] * 0,
    }
    for layers, expected in choices.items():
        for found, array in zip(embedder.embed(tiny_corpus, layers), everything, strict=True):
            np.testing.assert_allclose(found, expected(array), rtol=0, atol=1e-6)


def test_boundaries_can_be_kept(tiny_checkpoint, embedder, tiny_corpus):
    kept = Embedder(tiny_checkpoint, keep_boundaries=True).embed(tiny_corpus)
    for with_boundaries, without in zip(kept, embedder.embed(tiny_corpus), strict=True):
        np.testing.assert_array_equal(with_boundaries[:, 1:-1], without)
    assert kept[2].shape == (3, 2, 16)


def test_a_stream_gives_what_a_list_gives_and_reads_no_further_than_its_window(embedder, tiny_corpus):
    read = []

    def stream():
        for sentence in tiny_corpus * 4:
            read.append(sentence)
            yield sentence

    arrays = embedder.embed_iter(stream(), layers="average", window=3)
    first = next(arrays)
    assert len(read) == 4
    for found, expected in zip([first, *arrays], embedder.embed(tiny_corpus * 4, "average"), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=TINY_TOLERANCE)


def test_a_window_is_bounded_in_tokens_too(tiny_checkpoint):
    embedder = Embedder(tiny_checkpoint, max_tokens=10)
    taken = 0

    def stream():
        nonlocal taken
        for taken in range(1, 1000):  # noqa: B007
            yield ["a", "b", "c"]

    next(embedder.embed_iter(stream()))
    assert taken <= 1 + embedder.window_tokens // 5


def test_carry_continues_each_row_grows_and_keeps_rows_that_rest(tiny_checkpoint):
    carry, zero = Embedder(tiny_checkpoint, state="carry"), Embedder(tiny_checkpoint)
    one, other, third = ["a", "b"], ["c"], ["d", "e", "f"]
    first = carry.embed([one, other])
    np.testing.assert_allclose(first[0], zero.embed([one])[0], rtol=0, atol=TINY_TOLERANCE)
    resting = carry.state_dict()["cell"][:, 1]
    other_start = Embedder(tiny_checkpoint, state="carry")
    other_start.embed([one, other])
    other_start.reset(row for row in [1])
    assert not other_start.state_dict()["cell"][:, 1].any() and other_start.state_dict()["cell"][:, 0].any()
    second = carry.embed([third])
    assert np.abs(second[0] - zero.embed([third])[0])[1:].max() > 1e-3
    np.testing.assert_array_equal(carry.state_dict()["cell"][:, 1], resting)
    grown = carry.embed([one, other, third])
    np.testing.assert_allclose(grown[2], zero.embed([third])[0], rtol=0, atol=TINY_TOLERANCE)
    assert carry.state_dict()["hidden"].shape == (2, 3, 16)


def test_carried_states_can_be_saved_loaded_and_reset(tiny_checkpoint):
    carry = Embedder(tiny_checkpoint, state="carry")
    sentences = [["a", "b"], ["c"]]
    assert carry.state_dict() == {}
    first = carry.embed(sentences)
    saved = carry.state_dict()
    second = carry.embed(sentences)
    other = Embedder(tiny_checkpoint, state="carry")
    other.load_state_dict(saved)
    for found, expected in zip(other.embed(sentences), second, strict=True):
        np.testing.assert_array_equal(found, expected)
    carry.load_state_dict(saved)
    carry.reset([1])
    half = carry.embed(sentences)
    np.testing.assert_array_equal(half[0], second[0])
    np.testing.assert_array_equal(half[1], first[1])
    carry.reset()
    np.testing.assert_array_equal(carry.embed(sentences)[0], first[0])
    carry.load_state_dict({})
    assert carry.state_dict() == {}


def test_the_vocabulary_is_the_loaded_models_whatever_becomes_of_its_files(tiny_checkpoint, tmp_path, monkeypatch):
    words = ["<S>", "</S>", "<UNK>", "do", "n't", '"']
    monkeypatch.chdir(tmp_path)
    write(replace(tiny_checkpoint, vocabulary=words), Path("model"))
    one, other, third = (Embedder.from_pretrained("model", device="cpu") for _ in range(3))
    sent = pickle.dumps(other)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert one.vocabulary == words
    (tmp_path / "model" / "vocab.txt").write_text("<S>\n</S>\n<UNK>\n\u2019\n", encoding="utf-8")
    assert other.vocabulary == words
    shutil.rmtree(tmp_path / "model")
    assert third.vocabulary == pickle.loads(sent).vocabulary == words


@pytest.mark.parametrize("state", ["zero", "warm"])
def test_only_carry_mode_keeps_what_was_left_after_a_sentence(tiny_checkpoint, tiny_corpus, state):
    warm = Embedder(tiny_checkpoint).warm_up(tiny_corpus)
    embedder = Embedder(tiny_checkpoint, state=state, warm_state=warm if state == "warm" else None)
    embedder.embed(tiny_corpus)
    assert embedder.state_dict() == {}


def test_warm_starts_every_sentence_from_the_state_made_by_warming_up(tiny_checkpoint, tiny_corpus):
    warm_state = Embedder(tiny_checkpoint).warm_up(tiny_corpus[:2])
    carry = Embedder(tiny_checkpoint, state="carry")
    for sentence in tiny_corpus[:2]:
        carry.embed([sentence])
    for name, part in carry.state_dict().items():
        np.testing.assert_array_equal(warm_state[name], part[:, 0])
    warm = Embedder(tiny_checkpoint, state="warm", warm_state=warm_state)
    expected = carry.embed([tiny_corpus[4]])[0]
    for found in (warm.embed([tiny_corpus[4]])[0], warm.embed(tiny_corpus)[4], warm.embed(tiny_corpus)[4]):
        np.testing.assert_allclose(found, expected, rtol=0, atol=TINY_TOLERANCE)
    assert np.abs(expected - Embedder(tiny_checkpoint).embed([tiny_corpus[4]])[0]).max() > 1e-3


def test_the_warm_state_is_stored_with_the_model(tiny_checkpoint, tmp_path, tiny_corpus):
    write(tiny_checkpoint, tmp_path / "model")
    with pytest.raises(ConfigError, match="no warm state.*save_warm_state"):
        Embedder.from_pretrained(tmp_path / "model", device="cpu", state="warm")
    embedder = Embedder.from_pretrained(tmp_path / "model", device="cpu")
    with pytest.raises(ConfigError, match="no warm state to save"):
        embedder.save_warm_state(tmp_path / "model")
    warm_state = embedder.warm_up(tiny_corpus)
    embedder.save_warm_state(tmp_path / "model")
    found = read(tmp_path / "model").warm_state
    assert found is not None
    for name, part in warm_state.items():
        np.testing.assert_array_equal(found[name], part)
    again = Embedder.from_pretrained(tmp_path / "model", device="cpu", state="warm")
    np.testing.assert_array_equal(again.warm_state["cell"], warm_state["cell"])
    assert again.describe()["state_hash"]


def test_a_warm_state_belongs_to_its_model(tiny_checkpoint, tmp_path):
    tensors = {name: 2 * tensor for name, tensor in tiny_checkpoint.tensors.items()}
    write(replace(tiny_checkpoint, tensors=tensors), tmp_path / "other")
    embedder = Embedder(tiny_checkpoint)
    warm_state = embedder.warm_up(["a b"])
    with pytest.raises(ConfigError, match="holds other weights"):
        embedder.save_warm_state(tmp_path / "other")
    with pytest.raises(ConfigError, match="has arrays of the shapes"):
        Embedder(tiny_checkpoint, state="warm", warm_state={**warm_state, "cell": warm_state["hidden"][:, :3]})
    with pytest.raises(ConfigError, match="has arrays of the shapes"):
        Embedder(tiny_checkpoint, warm_state={"hidden": warm_state["hidden"]})


def test_describe_says_what_the_embedder_is(tiny_checkpoint, embedder):
    embedder.embed(["a b a"])
    facts = embedder.describe()
    assert (facts["num_layers"], facts["layer_dim"], facts["state"], facts["dtype"]) == (3, 16, "zero", "float32")
    assert (facts["cache"]["words"], facts["cache"]["misses"]) == (4, 4)
    assert facts["model_hash"] == embedder.model_hash == Embedder(tiny_checkpoint).model_hash
    json.dumps(facts)
    embedder.forget_words()
    assert embedder.describe()["cache"]["words"] == 0


def test_the_network_in_torch_takes_over_from_its_first_use_on(tiny_checkpoint, tiny_corpus):
    torch = pytest.importorskip("torch")
    embedder = Embedder(tiny_checkpoint)
    before, model_hash = embedder.embed(tiny_corpus), embedder.model_hash
    bilm = embedder.bilm
    assert embedder.bilm is bilm
    assert (embedder.model_hash, embedder.products) == (model_hash, Embedder(tiny_checkpoint).products)
    for one, other in zip(embedder.embed(tiny_corpus), before, strict=True):
        np.testing.assert_array_equal(one, other)
    with torch.no_grad():
        bilm.forward_lstm.layers[0].bias.add_(1)
    assert not np.array_equal(embedder.embed(tiny_corpus)[0], before[0])
    assert embedder.model_hash != model_hash
    np.testing.assert_array_equal(Embedder(tiny_checkpoint).embed(tiny_corpus)[0], before[0])


@pytest.mark.parametrize(
    "layers", ["last", 3, -4, True, None, 0.5, [0.5, 0.5], [0.5, 0.5, "x"], [0.5, 0.5, float("nan")], [10**400, 0, 0]]
)
def test_impossible_layers_are_refused_before_anything_is_computed(embedder, layers):
    for call in (embedder.embed, embedder.embed_iter):
        with pytest.raises(ConfigError, match="layers is .*, but the model has 3 layers.* an index from -3 to 2"):
            call([["a"]], layers)


def test_impossible_settings_are_refused(tiny_checkpoint, embedder, tmp_path):
    for settings, message in (
        ({"state": "cold"}, "state must be one of 'zero', 'warm', 'carry'"),
        ({"state": "warm"}, "no warm state"),
        ({"max_tokens": 0}, "max_tokens must be at least 1 .*got 0"),
    ):
        with pytest.raises(ConfigError, match=message):
            Embedder(tiny_checkpoint, **settings)
    with pytest.raises(ConfigError, match="window must be at least 1 .*got 0"):
        embedder.embed_iter([], window=0)
    with pytest.raises(ConfigError, match="no sentence to warm up"):
        embedder.warm_up([])
    with pytest.raises(IndexError):
        embedder.reset([3])
    with pytest.raises(ConfigError, match="dtype must be one of 'float32', 'bfloat16', 'int8' or one of 'auto'"):
        Embedder.from_pretrained(tmp_path, dtype="int4")
    with pytest.raises(WeightFileError, match="no such file or folder"):
        Embedder.from_pretrained(tmp_path / "nothing")


def test_a_device_that_torch_does_not_know_is_refused(tmp_path):
    pytest.importorskip("torch")
    with pytest.raises(ConfigError, match="abacus.*can't use it"):
        Embedder.from_pretrained(tmp_path, device="abacus")
