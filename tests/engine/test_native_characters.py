"""The token encoder in one call of the library, against elmo.reference; a token is independent of the others."""

from functools import cache

import numpy as np
import pytest

from elmo import reference
from elmo.config import BiLMConfig
from elmo.engine import token_encoder
from elmo.engine.token_encoder import TokenEncoder

pytestmark = pytest.mark.usefixtures("backend")

SHAPES = {
    "published": {"filters": ((1, 32), (2, 32), (3, 64), (7, 70)), "character_dim": 16, "num_highway": 2},
    "tanh, odd": {"filters": ((1, 3), (5, 67)), "character_dim": 6, "num_highway": 1, "activation": "tanh"},
    "no highway": {"filters": ((3, 20),), "character_dim": 2, "num_highway": 0},
}


def config_and_tensors(shape):
    config = BiLMConfig(cell_size=16, projection_size=9, **SHAPES[shape])
    chance = np.random.default_rng(3)

    def normal(*size):
        return (chance.standard_normal(size) / np.sqrt(size[-1])).astype(np.float32)

    tensors = {"character_embedding": 3 * normal(config.num_characters, config.character_dim)}
    for index, (width, number) in enumerate(config.filters):
        tensors[f"convolutions.{index}.weight"] = normal(number, config.character_dim, width)
        tensors[f"convolutions.{index}.bias"] = normal(number)
    for index in range(config.num_highway):
        for part in ("transform", "gate"):
            tensors[f"highways.{index}.{part}.weight"] = normal(config.num_filters, config.num_filters)
            tensors[f"highways.{index}.{part}.bias"] = normal(config.num_filters)
    tensors["projection.weight"], tensors["projection.bias"] = normal(9, config.num_filters), normal(9)
    return config, {f"token_encoder.{name}": tensor for name, tensor in tensors.items()}


def tokens(count):
    chance, ids = np.random.default_rng(count), np.full((count, 50), 261, np.int16)
    for row in ids[1:]:
        length = chance.integers(0, 48)
        row[: length + 2] = [259, *chance.integers(1, 256, length), 260]
    ids[:1] = chance.integers(1, 256, 50)  # no padding at all
    return ids


@cache
def exactly(shape, count):
    """The reference's vectors of `tokens(count)`, computed once for all sets of instructions."""
    config, tensors = config_and_tensors(shape)
    doubles = {name: tensor.astype(np.float64) for name, tensor in tensors.items()}
    vectors = [reference.token_vector(config, doubles, characters) for characters in tokens(count)]
    return np.array(vectors).reshape(count, config.projection_size)


@pytest.mark.parametrize("shape", SHAPES)
def test_it_equals_the_reference_in_double_precision(shape, dtype):
    config, tensors = config_and_tensors(shape)
    encoder = TokenEncoder(config, tensors, dtype)
    for count in (0, 1, 7, 61, 150):
        found, expected = encoder(tokens(count), None), exactly(shape, count)
        assert found.shape == expected.shape == (count, 9)
        tolerance = (1e-6 if dtype == "float32" else 1e-2) * np.abs(expected).max(initial=1)
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance, err_msg=f"{count} tokens")


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_no_number_stays_none(shape, dtype):
    """A character's vector that isn't finite shows in every token that has the character, and in no other."""
    config, tensors = config_and_tensors(shape)
    tensors["token_encoder.character_embedding"][97, 0] = np.nan
    ids = tokens(40)
    has_it = (ids == 97).any(axis=1)
    assert has_it.any() and not has_it.all()
    found = TokenEncoder(config, tensors, dtype)(ids, None)
    np.testing.assert_array_equal(np.isnan(found).any(axis=1), has_it)


def test_it_is_the_library_that_was_tested(backend, monkeypatch):
    if backend == "numpy":
        pytest.skip("compared with numpy")
    config, tensors = config_and_tensors("published")
    found = TokenEncoder(config, tensors, "float32")(tokens(20), None)
    monkeypatch.setattr(token_encoder.NativeCharacters, "fits", lambda *_: False)
    step_by_step = TokenEncoder(config, tensors, "float32")
    assert step_by_step._characters is None
    expected = step_by_step(tokens(20), None)
    # Both are within 1e-6 of the largest number from double precision, as tested above.
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6 * np.abs(expected).max())


def test_a_token_does_not_depend_on_the_others(backend, dtype):
    if backend == "numpy":
        pytest.skip("its products may round by how many rows there are")
    config, tensors = config_and_tensors("published")
    encoder, ids = TokenEncoder(config, tensors, dtype), tokens(150)
    together = encoder(ids, None)
    for some in ([3], [149, 0], list(range(90, 20, -1))):
        assert np.array_equal(encoder(ids[some], None), together[some])
