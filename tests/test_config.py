"""The architecture as data: derived sizes, and every bad value named."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from elmo.config import PUBLISHED_SIZES, BiLMConfig, published
from elmo.errors import ConfigError


def test_derived_sizes_of_the_published_model():
    config = BiLMConfig()
    assert (config.num_filters, config.token_features, config.output_dim) == (2048, 2048, 1024)
    assert config.has_characters and not config.has_words and config.has_lstm_projection
    assert config.directions == ("forward", "backward")


def test_a_single_direction_halves_the_output():
    config = replace(BiLMConfig(), direction="forward")
    assert (config.directions, config.output_dim) == (("forward",), 512)


def test_a_word_model_has_no_filters():
    config = BiLMConfig(characters="none", num_words=11, word_dim=512, token_projection=False)
    assert (config.num_filters, config.token_features) == (0, 512)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"characters": "runes"}, "characters must be one of .*'bytes'.* \\(got 'runes'\\)"),
        ({"activation": "gelu"}, "activation must be .*'gelu'"),
        ({"direction": "sideways"}, "direction must be .*'sideways'"),
        ({"cell_size": 0}, "cell_size must be a whole number from 1 to 1,000,000 .got 0"),
        ({"num_layers": 0}, "num_layers must be .*got 0"),
        ({"cell_clip": -1.0}, "cell_clip must be above 0 or None .got -1.0"),
        ({"projection_size": 5000}, "projection_size must be at most cell_size, 4096 .got 5000"),
        ({"filters": ()}, "filters must be pairs of numbers from 1 to 1,000,000, at least one"),
        ({"filters": ((60, 4),)}, "max_characters_per_token must be .* the widest of filters, 60 .got 50"),
        *(({"filters": ((1, wrong),)}, "filters must be ") for wrong in (0, 1.5, "4", 10**30)),
        ({"filters": ((1,),)}, "filters must be pairs of"),
        ({"cell_clip": float("nan")}, "cell_clip must be "),
        ({"max_characters_per_token": 2}, "max_characters_per_token must be at least 3.*got 2"),
        ({"num_characters": 261}, "num_characters must be 262 .*got 261"),
        ({"num_highway": -1}, "num_highway must be a whole number from 0 to 1,000 .got -1"),
        ({"token_projection": False}, "token_projection must be true, because"),
        ({"num_words": 5}, "word_dim must be set together with num_words .got 0"),
        ({"characters": "none"}, "characters must be .*'none'"),
    ],
)
def test_a_bad_value_is_named(changes, message):
    with pytest.raises(ConfigError, match=message):
        BiLMConfig(**changes)


def test_plain_values_and_back():
    config = published("small", cell_clip=None)
    assert BiLMConfig.from_dict(asdict(config)) == config


def test_numbers_of_numpy_become_plain_ones():
    config = BiLMConfig(cell_size=np.int64(1024), cell_clip=np.float32(2), skip_connections=np.bool_(False))  # type: ignore[arg-type]
    assert BiLMConfig.from_dict(json.loads(json.dumps(asdict(config)))) == config


def test_unknown_and_missing_keys_name_their_source():
    values = asdict(BiLMConfig())
    with pytest.raises(ConfigError, match=r"a\.json: unknown setting 'n_layers'"):
        BiLMConfig.from_dict({**values, "n_layers": 2}, "a.json")
    del values["num_layers"]
    with pytest.raises(ConfigError, match=r"a\.json: key 'num_layers' of the architecture is missing"):
        BiLMConfig.from_dict(values, "a.json")


def test_published_sizes_by_name():
    assert published("original") == BiLMConfig()
    assert PUBLISHED_SIZES["medium"].projection_size == 256
    with pytest.raises(ConfigError, match=r"size must be one of small, medium, original \(got 'huge'\)"):
        published("huge")
