"""A softmax for `tiny_checkpoint`."""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

from elmo.lm.language_model import EngineLanguageModel
from elmo.text.vocabulary import BEGINNING_MARK, SPECIAL_WORDS
from elmo.weights.checkpoint import Checkpoint


@pytest.fixture
def language_model(tiny_checkpoint: Checkpoint) -> Checkpoint:
    """Predicts two words, one beginning and the special words; its random weights are always the same."""
    words = [*SPECIAL_WORDS, "the", "bank", "bank" + BEGINNING_MARK]
    chance = np.random.default_rng(2)
    shapes = {"weight": (len(words), tiny_checkpoint.config.projection_size), "bias": (len(words),)}
    softmax = {name: chance.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    return dataclasses.replace(tiny_checkpoint, vocabulary=words, softmax=softmax)


@pytest.fixture
def model(language_model: Checkpoint) -> EngineLanguageModel:
    """`language_model`, without torch."""
    return EngineLanguageModel(language_model)


@pytest.fixture
def on_engine() -> Callable[..., EngineLanguageModel]:
    """(BiLM, LMHead) -> the same without torch."""

    def made(bilm, head) -> EngineLanguageModel:  # noqa: ANN001
        softmax = {name: tensor.detach().numpy() for name, tensor in head.named_parameters()}
        return EngineLanguageModel(bilm.to_checkpoint(softmax=softmax, vocabulary=head.vocabulary))

    return made
