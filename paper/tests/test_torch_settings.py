"""Whatever a program has set in torch, the trainings of the compared systems compute as usual."""

import pytest
import torch

from elmo.errors import ConfigError
from elmo_paper.context2vec.train import train_context2vec
from elmo_paper.cove.train import train_cove
from elmo_paper.glove.train import glove


@pytest.mark.parametrize("function", (train_context2vec, train_cove, glove), ids=lambda function: function.__name__)
def test_a_training_refuses_another_default_type_before_anything(function):
    try:
        torch.set_default_dtype(torch.float64)
        with pytest.raises(ConfigError, match=r"default dtype is torch.float64 .* torch.set_default_dtype"):
            function()
    finally:
        torch.set_default_dtype(torch.float32)
