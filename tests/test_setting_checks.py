"""What a refused setting is told, by everything that takes one."""

import json
import re
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from elmo.config import BiLMConfig
from elmo.errors import ConfigError
from elmo.pretrain.settings.config import PretrainConfig
from elmo.pretrain.settings.finetune_config import FinetuneConfig
from elmo.setting_checks import PositiveInt, Seed, require_types, require_value
from elmo.static.training.settings import StaticSettings
from elmo.tasks.registry import find
from elmo.tasks.settings import FitSettings, TaskSettings, TokenSettings


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_a_seed_that_no_generator_takes_is_refused(seed):
    with pytest.raises(ConfigError, match=rf"seed must be from 0 to 2\^63 - 1 \(got {seed}\). Change it"):
        require_value("seed", seed, Seed)


@dataclass(frozen=True)
class Everything:
    """A field of each kind that is checked."""

    switch: bool = True
    count: int = 1
    rate: float | None = 0.1
    kind: Literal["a", "b"] = "a"
    sizes: tuple[int, ...] = (1,)
    seed: Seed = 2**62
    name: str = ""
    files: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("switch", ["no", "False", 1, None, 0.0]),
        ("count", ["1", True, 1.0, None, 10**30, -(10**30)]),
        ("rate", ["1", True, float("nan"), float("inf"), 10**400]),
        ("kind", ["c", None]),
        ("sizes", [1, (10**30,), ("1",), (True,)]),
        ("files", ["a", (1,), ("a", 2.5)]),
    ],
)
def test_values_of_another_type_and_beyond_all_sense_are_refused(name, values):
    for value in values:
        with pytest.raises(ConfigError, match=f"{name} must be "):
            require_types(replace(Everything(), **{name: value}))


def test_numbers_of_numpy_and_other_whole_numbers_are_taken():
    settings = Everything(np.bool_(True), np.int64(3), np.float32(1), "b", [1, 2])
    require_types(settings)
    assert json.loads(json.dumps(asdict(settings))) == {
        **asdict(Everything(True, 3, 1.0, "b")),
        "sizes": [1, 2],
        "files": [],
    }
    require_types(Everything(rate=3, name=Path("a"), files=["b", Path("c")]))


@pytest.mark.parametrize(
    "settings",
    [FitSettings, TokenSettings, StaticSettings, FinetuneConfig, PretrainConfig, BiLMConfig,
     *(task.settings for task in map(find, ("ner", "pos", "sst", "snli", "squad", "srl", "coref")))],
)  # fmt: skip
def test_no_setting_takes_a_number_that_is_none(settings):
    """Of every dataclass of settings, groups included: whole numbers are no strings, switches no words."""
    groups = (
        [getattr(settings(), it.name) for it in fields(settings)]
        if issubclass(settings, TaskSettings)
        else [settings()]
    )
    for group in groups:
        for field in fields(group):
            if field.type in (int, float, bool):
                with pytest.raises(ConfigError, match=field.name):
                    replace(group, **{field.name: "no"})


@pytest.mark.parametrize("value", ["a", 1.5, float("nan"), None, True, 0, -1])
def test_a_count_is_an_integer_of_at_least_1(value):
    with pytest.raises(ConfigError, match=rf"window must be .*got {re.escape(repr(value))}"):
        require_value("window", value, PositiveInt)
    require_value("window", np.int64(3), PositiveInt)
    require_value("window", None, PositiveInt | None)
