"""The script that a file of tests is about."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from elmo.model.bilm import BiLM
from elmo.text.vocabulary import SPECIAL_WORDS
from elmo.weights.checkpoint import Checkpoint


@pytest.fixture(scope="module")
def script(request: pytest.FixtureRequest, load_script: Callable[[str], ModuleType]) -> ModuleType:
    """`runs/FOLDER/NAME.py`, of `tests/runs/FOLDER/test_NAME.py`."""
    path = Path(request.path)
    return load_script(f"runs/{path.parent.name}/{path.name.removeprefix('test_')}")


@pytest.fixture
def old(tiny_bilm: BiLM) -> Checkpoint:
    """A model that predicts "a" and "b"."""
    chance = np.random.default_rng(3)
    softmax = {"weight": chance.normal(size=(5, 8)), "bias": chance.normal(size=5)}
    softmax = {name: array.astype(np.float32) for name, array in softmax.items()}
    return tiny_bilm.to_checkpoint(vocabulary=[*SPECIAL_WORDS, "a", "b"], softmax=softmax)
