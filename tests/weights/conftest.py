"""Small models with random weights."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import checkpoint_of

from elmo.config import BiLMConfig
from elmo.weights.allennlp.write import write as write_allennlp
from elmo.weights.checkpoint import Checkpoint
from elmo.weights.native.write import write as write_native

SMALL = {"character_dim": 3, "filters": ((1, 2), (2, 3)), "num_highway": 1, "cell_size": 6, "projection_size": 4}
WORDS = ["<S>", "</S>", "<UNK>", "the", "", "책"]
WORD_MODEL = {
    "characters": "none",
    "cell_size": 6,
    "projection_size": 4,
    "num_words": len(WORDS) + 1,
    "word_dim": 4,
    "token_projection": False,
}


@pytest.fixture
def random_checkpoint() -> Callable[..., Checkpoint]:
    """`random_checkpoint(**settings)`: a tiny byte-level model, with `settings` of its config."""
    return lambda **settings: checkpoint_of(BiLMConfig(**(SMALL | settings)), words=WORDS)


@pytest.fixture
def random_word_checkpoint() -> Callable[..., Checkpoint]:
    """`random_word_checkpoint(**settings)`: a tiny model that reads words."""
    return lambda **settings: checkpoint_of(BiLMConfig(**(WORD_MODEL | settings)), words=WORDS, vocabulary=list(WORDS))


@pytest.fixture
def model(random_checkpoint) -> Checkpoint:
    """What is in the folders below; a file of tests may have another."""
    return random_checkpoint()


@pytest.fixture
def published(tmp_path, model) -> Path:
    """A folder of AllenNLP's format."""
    write_allennlp(model, tmp_path / "published")
    return tmp_path / "published"


@pytest.fixture
def native(tmp_path, model) -> Path:
    """A model folder in our own format."""
    write_native(model, tmp_path / "native")
    return tmp_path / "native"


@pytest.fixture
def random_softmax() -> dict[str, np.ndarray]:
    """A softmax over `WORDS` for the tiny models."""
    random = np.random.default_rng(8)
    weight, bias = random.normal(size=(len(WORDS), 4)), random.normal(size=len(WORDS))
    return {"weight": weight.astype(np.float32), "bias": bias.astype(np.float32)}


def _require_equal(found: Checkpoint, wanted: Checkpoint) -> None:
    assert found.config == wanted.config
    assert found.token_map == wanted.token_map
    for part in ("tensors", "softmax", "warm_state"):
        ours, theirs = getattr(found, part), getattr(wanted, part)
        assert (ours is None) == (theirs is None), part
        assert sorted(ours or {}) == sorted(theirs or {})
        for name in ours or {}:
            assert ours[name].dtype == np.float32
            assert ours[name].flags.writeable
            assert ours[name].tobytes() == theirs[name].tobytes(), name


@pytest.fixture
def require_equal() -> Callable[[Checkpoint, Checkpoint], None]:
    """Asserts that two checkpoints are the same model, bit for bit."""
    return _require_equal
