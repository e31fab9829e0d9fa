"""Settings of a run: every bad one is named with its value."""

from typing import Any

import pytest

from elmo.errors import ConfigError
from elmo.pretrain.config import PretrainConfig
from elmo.pretrain.schedule import learning_rate


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("optimizer", "sgd"), ("decay", "cosine"), ("product_dtype", "float16"), ("activation", "gelu"),
        ("batch_size", 0), ("unroll_steps", 0), ("num_negative_samples", 0), ("log_every", 0), ("save_every", 0),
        ("keep_checkpoints", 0), ("max_steps", -1), ("warmup_steps", -1), ("epochs", 0.0), ("learning_rate", -0.1),
        ("clip_norm", 0.0), ("dropout", 1.0), ("state_reset", 1.5),
    ],
)  # fmt: skip
def test_a_bad_setting_is_named_with_its_value(name: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=f"{name} is {value!r}"):
        PretrainConfig(**{name: value})


def test_an_unknown_setting_names_its_file_and_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"run\.toml: unknown setting 'learning_rat'.*learning_rate"):
        PretrainConfig.from_dict({"learning_rat": 1}, "run.toml")


def test_settings_survive_json() -> None:
    config = PretrainConfig(filters=((1, 2), (3, 4)), dropout=0.25)
    assert PretrainConfig.from_dict(config.to_dict(), "json") == config


def test_the_rate_rises_stays_and_falls() -> None:
    flat = PretrainConfig(learning_rate=0.2)
    assert learning_rate(flat, 1, 100) == learning_rate(flat, 100, 100) == 0.2
    config = PretrainConfig(learning_rate=1.0, warmup_steps=10, decay="linear")
    assert learning_rate(config, 1, 100) == pytest.approx(0.1)
    assert learning_rate(config, 10, 100) == pytest.approx(1.0)
    assert learning_rate(config, 100, 100) == pytest.approx(1 / 91)
    assert learning_rate(config, 101, 100) == 0.0
