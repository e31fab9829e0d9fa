"""Embedding with bfloat16 and int8 factors: close, steady, the same from a stored model, and without the library."""

import random

import numpy as np
import pytest
import torch
from tests.conftest import native_library

from elmo.embed.chosen_network import chosen_type
from elmo.embed.embedder import Embedder
from elmo.errors import ConfigError
from elmo.model.bilm import BiLM
from elmo.ops import native
from elmo.ops.native.kinds import native_types
from elmo.weights.native.write import write as write_checkpoint

DTYPES = ("float32", "bfloat16", "int8")


@pytest.fixture(params=["native", "numpy"])
def products(request):
    """With the native library and without."""
    with native_library(**{"ELMO_NATIVE": "0"} if request.param == "numpy" else {}):
        if request.param == "native" and not native_types():
            pytest.skip("the native library or AVX-512 is not here")
        yield request.param


@pytest.fixture
def bilm(tiny_bilm) -> BiLM:
    """Not in training, as `from_pretrained` gives it."""
    return tiny_bilm.requires_grad_(False)


def sentences(count: int) -> list[list[str]]:
    chance = random.Random(3)
    words = ["the", "of", "café", "", "a" * 60, *(f"word{number}" for number in range(40))]
    return [chance.choices(words, k=chance.choice((0, 1, 2, 5, 17))) for _ in range(count)]


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


def test_auto_is_float32_where_bfloat16_would_only_be_widened():
    with native_library(ELMO_INSTRUCTIONS="avx2"):
        assert chosen_type("auto", "cpu") == "float32"


def test_int8_is_refused_where_it_would_only_be_imitated():
    with pytest.raises(ConfigError, match="dtype is 'int8', but the device is 'cuda:1'.*Use bfloat16"):
        chosen_type("int8", "cuda:1")
    assert chosen_type("int8", "cpu") == "int8"


@pytest.mark.parametrize(("capability", "expected"), [((7, 5), "float32"), ((8, 0), "bfloat16"), ((9, 0), "bfloat16")])
def test_auto_is_bfloat16_on_a_gpu_that_has_units_for_it(monkeypatch, capability, expected):
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    assert chosen_type("auto", "cuda:0") == expected
    assert chosen_type("float32", "cuda:0") == "float32"
