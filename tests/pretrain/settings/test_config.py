"""Settings of a run: every bad one is named with its value."""

import json
import re
from dataclasses import asdict

import pytest

from elmo.config import BiLMConfig
from elmo.errors import ConfigError
from elmo.pretrain.settings.config import PretrainConfig
from elmo.pretrain.step.setup import learning_rate


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("optimizer", "adam"), ("softmax", "hierarchical"), ("direction", "up"), ("characters", "letters"),
        ("decay", "cosine"), ("product_dtype", "float16"), ("activation", "gelu"),
        ("batch_size", 0), ("unroll_steps", 0), ("num_negative_samples", 0), ("log_every", 0), ("save_every", 0),
        ("keep_checkpoints", 0), ("max_steps", -1), ("warmup_steps", -1), ("epochs", 0.0), ("learning_rate", -0.1),
        ("clip_norm", 0.0), ("dropout", 1.0), ("state_reset", 1.5), ("seed", -1), ("word_dim", -1), ("cell_clip", -1.0),
        ("weight_decay", -0.1), ("softmax_divisor", 0), ("max_character_dictionary", 0), ("batch_size", "64"),
        ("batch_size", 64.0), ("batch_size", True), ("epochs", float("nan")), ("learning_rate", float("inf")),
        ("lazy_rows", "yes"), ("filters", 7), ("filters", [[1, 2, 3]]), ("filters", [[1.5, 2]]),
        ("softmax_cutoffs", 2000), ("softmax_cutoffs", [0.5]), ("cell_size", 0), ("num_layers", 0),
        ("weight_decay", 10**400), ("clip_norm", 10**400), ("learning_rate", -float("inf")),
        ("epochs", 1e300), ("seed", 1 << 63),
    ],
)  # fmt: skip
def test_a_bad_setting_is_named_with_its_value_its_reason_and_a_way_out(name, value):
    shown = re.escape(repr(value))
    with pytest.raises(ConfigError, match=rf"{name} must be .* \(got {shown}\)\. (Change it|Write for instance)"):
        PretrainConfig(**{name: value})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"softmax_cutoffs": (9, 5)}, r"softmax_cutoffs must be ascending.* .got \(9, 5\)"),
        ({"softmax_cutoffs": (0, 5)}, r"must be ascending vocabulary ids, each at least 1 .got \(0, 5\)"),
        ({"tie_softmax": True}, "tie_softmax must be false unless characters is 'none', word_dim projection_size"),
        ({"tie_softmax": True, "characters": "none", "word_dim": 3}, "tie_softmax must be false unless"),
        (
            {"tie_softmax": True, "characters": "none", "softmax": "adaptive", "softmax_cutoffs": (5,)},
            "tie_softmax must be false unless .* softmax sampled or full",
        ),
        ({"projection_size": 8192}, "projection_size must be at most cell_size, 4096 .got 8192"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        PretrainConfig(**settings)


def test_a_recipe_written_before_a_setting_existed_is_read_with_what_was_done_then():
    """The settings of a run folder of the first version."""
    old = {
        "cell_size": 64, "projection_size": 32, "num_layers": 2, "cell_clip": 3.0, "projection_clip": 3.0,
        "skip_connections": True, "character_dim": 8, "filters": [[1, 16], [2, 16], [3, 32]], "num_highway": 1,
        "activation": "relu", "epochs": 10.0, "max_steps": 300, "batch_size": 16, "unroll_steps": 20,
        "num_negative_samples": 256, "state_reset": 0.9, "dropout": 0.0, "optimizer": "adamw", "learning_rate": 0.005,
        "warmup_steps": 30, "decay": "linear", "weight_decay": 0.0, "clip_norm": 1.0, "sum_over_window": False,
        "product_dtype": "float32", "seed": 0, "log_every": 1, "evaluate_every": 100, "evaluation_sentences": 200,
        "save_every": 50, "keep_checkpoints": 2,
    }  # fmt: skip
    config = PretrainConfig.from_dict(old, "config.json")
    assert {name: json.loads(json.dumps(asdict(config)))[name] for name in old} == old
    assert (config.direction, config.characters, config.softmax) == ("both", "bytes", "sampled")
    assert (config.tie_softmax, config.lazy_rows, config.word_vector_size) == (False, False, 0)
    assert config.architecture(50) == BiLMConfig(
        cell_size=64, projection_size=32, character_dim=8, filters=((1, 16), (2, 16), (3, 32)), num_highway=1
    )


def test_cutoffs_make_clusters_with_ever_narrower_vectors():
    config = PretrainConfig(softmax="adaptive", softmax_cutoffs=(2000, 10_000), projection_size=128, softmax_divisor=4)
    assert config.softmax_clusters(50_000) == [(8000, 32), (40_000, 8)]
    assert PretrainConfig().softmax_clusters(50_000) == []
    with pytest.raises(ConfigError, match="softmax_cutoffs must be some vocabulary ids below 10000"):
        config.softmax_clusters(10_000)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"learning_rat": 1}, "unknown setting 'learning_rat'.*learning_rate"),
        ({"dropout": 2}, "dropout must be .*got 2"),
    ],
)
def test_an_unknown_or_a_bad_setting_names_its_file(settings, message):
    with pytest.raises(ConfigError, match=rf"run\.toml: {message}"):
        PretrainConfig.from_dict(settings, "run.toml")


def test_the_rate_rises_stays_and_falls():
    flat = PretrainConfig(learning_rate=0.2)
    assert learning_rate(flat, 1, 100, 100) == learning_rate(flat, 100, 100, 100) == 0.2
    config = PretrainConfig(learning_rate=1.0, warmup_steps=10, decay="linear")
    assert learning_rate(config, 1, 100, 90) == pytest.approx(0.1)
    assert learning_rate(config, 10, 100, 90) == pytest.approx(1.0)
    assert learning_rate(config, 100, 100, 90) == pytest.approx(1 / 91)
    assert learning_rate(config, 101, 100, 90) == 0.0
