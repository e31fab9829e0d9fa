"""Embedding with bfloat16 and int8 factors: close, steady, the same from a stored model, and without the library."""

import random

import numpy as np
import pytest
import torch

from elmo.embed.chosen_network import chosen_type
from elmo.embed.embedder import Embedder
from elmo.errors import ConfigError
from elmo.model.bilm import BiLM
from elmo.ops import native
from elmo.ops.native.kinds import native_types
from elmo.weights.native.write import write as write_checkpoint

DTYPES = ("float32", "bfloat16", "int8")
# Lowest mean cosine of a layer with float32's, on random weights, which are harder on rounding than trained ones.
COSINES = {"float32": 0.9999999, "bfloat16": 0.9995, "int8": 0.998}


@pytest.fixture(params=["native", "numpy"])
def products(request, monkeypatch):
    """With the native library and without."""
    if request.param == "numpy":
        monkeypatch.setenv("ELMO_NATIVE", "0")
    native.library.cache_clear()
    if request.param == "native" and not native_types():
        pytest.skip("the native library or AVX-512 is not here")
    yield request.param
    monkeypatch.undo()
    native.library.cache_clear()


@pytest.fixture
def bilm(tiny_bilm) -> BiLM:
    """Not in training, as `from_pretrained` gives it."""
    return tiny_bilm.requires_grad_(False)


@pytest.fixture(scope="module")
def exact() -> list[np.ndarray]:
    """Vectors in double precision, computed by the first test that needs them: `bilm` is always the same."""
    return []


def sentences(count: int) -> list[list[str]]:
    chance = random.Random(3)
    words = ["the", "of", "café", "", "a" * 60, *(f"word{number}" for number in range(40))]
    return [chance.choices(words, k=chance.choice((0, 1, 2, 5, 17))) for _ in range(count)]


@pytest.mark.usefixtures("products")
@pytest.mark.parametrize("dtype", DTYPES)
def test_vectors_stay_close_to_float64(bilm, dtype, exact):
    found = Embedder(bilm, dtype=dtype).embed(sentences(60))
    if not exact:
        exact.extend(in_double_precision(bilm, sentences(60)))
    for layer in range(3):
        one, other = (np.concatenate([array[layer] for array in arrays]) for arrays in (found, exact))
        cosines = (one * other).sum(axis=1) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1)
        assert cosines.mean() >= COSINES[dtype]


def in_double_precision(bilm: BiLM, rows: list[list[str]]) -> list[np.ndarray]:
    """Each sentence alone through the plain loop."""
    copy = BiLM(bilm.config).eval()
    copy.load_state_dict(bilm.state_dict())
    copy.double()
    begin, end = bilm.token_map.boundary_tokens
    found = []
    for row in rows:
        vectors = copy.vectors_of([begin, *row, end])[None].detach()
        output = copy.contextualize(vectors, torch.tensor([len(row) + 2]))
        found.append(output.layers[:, 0, 1:-1].detach().numpy())
    return found


@pytest.mark.usefixtures("products")
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_sentence_has_the_same_bits_alone_in_any_company_and_in_any_order(bilm, dtype):
    rows = sentences(40)
    together = Embedder(bilm, dtype=dtype).embed(rows)
    order = random.Random(1).sample(range(len(rows)), len(rows))
    shuffled = Embedder(bilm, dtype=dtype, max_tokens=30).embed([rows[place] for place in order])
    alone = Embedder(bilm, dtype=dtype, cache_bytes=0)
    for place, array in zip(order, shuffled, strict=True):
        assert np.array_equal(array, together[place])
        assert np.array_equal(alone.embed([rows[place]])[0], together[place])


@pytest.mark.usefixtures("products")
@pytest.mark.parametrize("state", ["warm", "carry"])
def test_states_are_carried_in_every_type(bilm, state):
    rows = sentences(12)
    for dtype in ("bfloat16", "int8"):
        plain, rounded = Embedder(bilm, state="carry"), Embedder(bilm, state="carry", dtype=dtype)
        if state == "warm":
            warm = plain.warm_up(rows)
            plain = Embedder(bilm, state="warm", warm_state=warm)
            rounded = Embedder(bilm, state="warm", warm_state=warm, dtype=dtype)
        for _ in range(2):
            for one, other in zip(plain.embed(rows), rounded.embed(rows), strict=True):
                np.testing.assert_allclose(one, other, rtol=0, atol=0.2)


@pytest.mark.usefixtures("products")
@pytest.mark.parametrize("dtype", ["bfloat16", "int8"])
def test_a_model_stored_in_few_bits_embeds_as_the_one_it_was_made_from(bilm, dtype, tmp_path):
    write_checkpoint(bilm.to_checkpoint(), tmp_path / "few", dtype=dtype)
    write_checkpoint(bilm.to_checkpoint(), tmp_path / "full")
    found = Embedder.from_pretrained(tmp_path / "few", dtype=dtype).embed(sentences(20))
    expected = Embedder(bilm, dtype=dtype).embed(sentences(20))
    assert all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True))
    few, full = ((tmp_path / name / "model.safetensors").stat().st_size for name in ("few", "full"))
    assert few < 0.85 * full  # of a tiny model, most of which is names, biases and embeddings


def test_auto_says_what_it_chose(bilm, products):
    embedder = Embedder(bilm, dtype="auto")
    library = native.library()
    expected = "bfloat16" if library is not None and library.multiplies_bfloat16() else "float32"
    assert embedder.describe()["dtype"] == expected
    assert embedder.describe()["products"] == products


def test_auto_is_float32_where_bfloat16_would_only_be_widened(monkeypatch):
    monkeypatch.setenv("ELMO_INSTRUCTIONS", "avx2")
    native.library.cache_clear()
    try:
        assert chosen_type("auto", "cpu") == "float32"
    finally:
        monkeypatch.undo()
        native.library.cache_clear()
        native.library()  # with the limit there was before


def test_int8_is_refused_where_it_would_only_be_imitated():
    with pytest.raises(ConfigError, match="dtype is 'int8', but the device is 'cuda:1'.*Use bfloat16"):
        chosen_type("int8", "cuda:1")
    assert chosen_type("int8", "cpu") == "int8"


@pytest.mark.parametrize(("capability", "expected"), [((7, 5), "float32"), ((8, 0), "bfloat16"), ((9, 0), "bfloat16")])
def test_auto_is_bfloat16_on_a_gpu_that_has_units_for_it(monkeypatch, capability, expected):
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    assert chosen_type("auto", "cuda:0") == expected
    assert chosen_type("float32", "cuda:0") == "float32"
