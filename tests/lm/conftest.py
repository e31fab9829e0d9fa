"""A softmax for `tiny_bilm`."""

import pytest
import torch

from elmo.config import BiLMConfig
from elmo.model.lm_head import LMHead
from elmo.text.targets.target_ids import BEGINNING_MARK, SPECIAL_WORDS


@pytest.fixture
def head(tiny_config: BiLMConfig) -> LMHead:
    """Predicts two words, one beginning and the special words; its random weights are always the same."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(2)
        return LMHead([*SPECIAL_WORDS, "the", "bank", "bank" + BEGINNING_MARK], tiny_config.projection_size)
