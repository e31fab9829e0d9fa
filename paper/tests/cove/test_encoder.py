"""CoVe against what its authors' class computed, and against torch's own LSTM of two layers."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from elmo.errors import TextError, WeightFileError
from elmo.static.vectors import StaticVectors, require_known_words, write_static_vectors
from elmo_paper.analysis.encoders import layer_name
from elmo_paper.cove.encoder import CoVeEncoder
from elmo_paper.cove.files import CoVeModel, shapes

WORDS = ("the", "고양이", "sat", "mat")


def model_of(random: np.random.Generator, word_dim: int = 5, cells: int = 3) -> CoVeModel:
    found = {name: random.standard_normal(shape, dtype=np.float32) for name, shape in shapes(word_dim, cells).items()}
    return CoVeModel(word_dim, cells, found)


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(3)


@pytest.fixture
def vectors(random) -> StaticVectors:
    return StaticVectors(WORDS, random.standard_normal((len(WORDS), 5), dtype=np.float32))


@pytest.fixture
def encoder(random, vectors) -> CoVeEncoder:
    return CoVeEncoder(model_of(random), vectors)


def require_golden(model: CoVeModel, read: np.ndarray, golden: dict[str, np.ndarray]) -> None:
    """Compares both layers of each sentence of a padded batch, whose positions become words of their own."""
    lengths = golden["lengths"]
    words = tuple(f"{row}.{place}" for row, place in np.ndindex(read.shape[:2]))
    encoder = CoVeEncoder(model, StaticVectors(words, read.reshape(-1, read.shape[2])))
    sentences = [[f"{row}.{place}" for place in range(length)] for row, length in enumerate(lengths)]
    for row, (found, length) in enumerate(zip(encoder.embed_iter(sentences), lengths, strict=True)):
        for layer in range(2):
            assert np.abs(found[layer] - golden[f"layer{layer}"][row, :length]).max() < 5e-6


def test_both_layers_are_the_originals(shared):
    with np.load(shared / "golden" / "tasks" / "cove" / "small.npz") as arrays:
        golden = dict(arrays)
    tensors = {name.removeprefix("weight."): array for name, array in golden.items() if name.startswith("weight.")}
    model = CoVeModel(golden["input"].shape[2], golden["layer1"].shape[2] // 2, tensors)
    require_golden(model, golden["input"], golden)


def test_both_layers_of_the_published_size_are_the_originals(shared):
    folder = shared / "golden" / "tasks" / "cove"
    facts = json.loads((folder / "full_size.json").read_text())
    with np.load(folder / "full_size.npz") as arrays:
        golden = dict(arrays)
    draws = np.random.RandomState(facts["seed"])
    tensors = {}
    for end in ("l0", "l0_reverse", "l1", "l1_reverse"):
        for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            name = f"{kind}_{end}"
            drawn = draws.uniform(-1, 1, shapes(300, 300)[name]) * facts["weight_scale"]
            tensors[name] = drawn.astype(np.float32)
            assert tensors[name].ravel()[:3] == pytest.approx(facts["first_weights"][name])
    read = draws.uniform(-1, 1, (3, golden["lengths"].max(), 300)).astype(np.float32)
    require_golden(CoVeModel(300, 300, tensors), read, golden)


def test_the_upper_layer_is_that_of_torchs_lstm_of_two_layers(random, vectors):
    model = model_of(random)
    lstm = torch.nn.LSTM(5, 3, num_layers=2, bidirectional=True, batch_first=True)
    lstm.load_state_dict({name: torch.tensor(tensor) for name, tensor in model.tensors.items()})
    (found,) = CoVeEncoder(model, vectors).embed_iter([WORDS])
    expected, _ = lstm(torch.from_numpy(vectors.vectors)[None])
    assert np.abs(found[1] - expected[0].detach().numpy()).max() < 1e-6


def test_no_sentence_depends_on_its_neighbors(encoder, random):
    sentences = [list(random.choice(WORDS, size)) for size in random.integers(0, 9, 600)]
    together = list(encoder.embed_iter(sentences))
    for sentence, vectors in zip(sentences, together, strict=True):
        (alone,) = encoder.embed_iter([sentence])
        assert vectors.shape == (2, len(sentence), 6)
        assert np.allclose(vectors, alone, atol=1e-6)


def test_words_are_lower_cased_and_unknown_ones_are_zero(encoder, random):
    lower, upper, unknown, zero = encoder.embed_iter([["the", "sat"], ["The", "SAT"], ["the", "??"], ["the", "!!"]])
    assert np.array_equal(lower, upper)
    assert np.array_equal(unknown, zero)
    assert not np.array_equal(lower, unknown)


def test_the_hash_is_of_weights_vectors_and_words(random, vectors):
    model = model_of(random)
    others = [
        CoVeEncoder(model_of(random), vectors),
        CoVeEncoder(model, StaticVectors(WORDS, vectors.vectors + 1)),
        CoVeEncoder(model, StaticVectors(WORDS[::-1], vectors.vectors)),
    ]
    assert len({one.model_hash for one in [CoVeEncoder(model, vectors), *others]}) == 4


def test_tables_call_its_layers_what_the_papers_do(encoder):
    assert [layer_name(encoder, layer) for layer in range(2)] == ["layer 1", "layer 2"]


def test_a_folder_is_loaded(tmp_path: Path, random, vectors):
    model = model_of(random)
    torch.save({name: torch.tensor(tensor) for name, tensor in model.tensors.items()}, tmp_path / "mt.pth")
    write_static_vectors(tmp_path / "vectors.txt", vectors)
    assert CoVeEncoder.load(tmp_path).model_hash == CoVeEncoder(model, vectors).model_hash


def test_vectors_of_none_of_the_texts_words_are_refused(encoder):
    """Its LSTM would give vectors of zeros' places in the sentence."""
    require_known_words([encoder], ["unknown", "THE"])
    with pytest.raises(TextError, match=r"the word vectors: has none of the 2 distinct words"):
        require_known_words([encoder], ["one", "two"])


def test_vectors_of_another_width_are_refused(random, vectors):
    with pytest.raises(WeightFileError, match="the word vectors have 5 dimensions, but CoVe's LSTM reads 7"):
        CoVeEncoder(model_of(random, word_dim=7), vectors)
