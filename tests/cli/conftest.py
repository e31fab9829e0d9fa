"""A tiny language model with random weights, as a checkpoint and as a folder; what commands read and write."""

import io
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from elmo.config import BiLMConfig
from elmo.text.characters import CharacterMap
from elmo.text.token_map import TokenMap
from elmo.weights.checkpoint import Checkpoint
from elmo.weights.native.write import write
from elmo.weights.shapes import network_shapes

WORDS = ["<S>", "</S>", "<UNK>", "the", "bank", "was", "steep", "."]


@pytest.fixture
def language_model() -> Checkpoint:
    """Reads bytes and predicts eight words."""
    config = BiLMConfig(character_dim=3, filters=((1, 2), (2, 3)), num_highway=1, cell_size=6, projection_size=4)
    random = np.random.default_rng(7)
    tensors = {name: random.normal(size=shape).astype(np.float32) for name, shape in network_shapes(config)}
    tensors["token_encoder.character_embedding"][0] = 0
    softmax = {"weight": random.normal(size=(len(WORDS), 4)), "bias": random.normal(size=len(WORDS))}
    softmax = {name: array.astype(np.float32) for name, array in softmax.items()}
    token_map = TokenMap(CharacterMap.for_bytes(config.max_characters_per_token))
    return Checkpoint(config, tensors, token_map, WORDS, softmax, metadata={"license": "none: random numbers"})


@pytest.fixture
def on_terminal(terminal, monkeypatch) -> Callable[[Callable[[list[str]], int], list[str]], int]:
    """`on_terminal(main, argv)`: runs a command with `terminal` as its standard error."""

    def run(main: Callable[[list[str]], int], argv: list[str]) -> int:
        with monkeypatch.context() as patched:  # not before the test begins: capsys puts its own stderr there
            patched.setattr(sys, "stderr", terminal)
            return main(argv)

    return run


@pytest.fixture
def model_folder(tmp_path: Path, language_model: Checkpoint) -> Path:
    """`language_model` in our own format."""
    write(language_model, tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def model(tmp_path, tiny_bilm, monkeypatch) -> Path:
    """`tiny_bilm` in our own format; $ELMO_MODEL names it."""
    tiny_bilm.save_pretrained(tmp_path / "model")
    monkeypatch.setenv("ELMO_MODEL", str(tmp_path / "model"))
    return tmp_path / "model"


@pytest.fixture
def no_model(monkeypatch) -> None:
    """Whoever would load a model, or torch for it, is stopped."""

    def load(*arguments, **settings):
        raise AssertionError("a model was loaded")

    monkeypatch.setattr("elmo.embed.embedder.Embedder.from_pretrained", load)


@pytest.fixture
def stdin(monkeypatch) -> Callable[[bytes], None]:
    """Sets standard input."""
    return lambda content: monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))
