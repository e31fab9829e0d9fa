"""Whatever a program has set in torch, the compared systems compute as usual."""

from contextlib import ExitStack

import numpy as np
import pytest
import torch

from elmo.errors import ConfigError
from elmo.static.vectors import StaticVectors
from elmo_paper.context2vec.files import SPECIAL_WORDS, Context2VecModel, Sizes
from elmo_paper.context2vec.network import Context2Vec, Context2VecEncoder
from elmo_paper.context2vec.train import train_context2vec
from elmo_paper.cove.encoder import CoVeEncoder
from elmo_paper.cove.files import CoVeModel, shapes
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


RANDOM = np.random.default_rng(3)
WORDS = (*SPECIAL_WORDS, "the", "sat")
_NETWORK = Context2Vec(Sizes(len(WORDS), 4, True))
CONTEXT2VEC = Context2VecModel(
    WORDS, _NETWORK.sizes, {name: tensor.numpy() for name, tensor in _NETWORK.state_dict().items()}
)
COVE = CoVeModel(2, 3, {name: RANDOM.standard_normal(shape, dtype=np.float32) for name, shape in shapes(2, 3).items()})
ENCODERS = {
    "context2vec": lambda: Context2VecEncoder(CONTEXT2VEC),
    "cove": lambda: CoVeEncoder(COVE, StaticVectors(("the", "sat"), np.eye(2, dtype=np.float32))),
}


@pytest.mark.parametrize("place", ["where it is made", "where it computes"])
@pytest.mark.parametrize("name", ENCODERS)
def test_what_a_program_has_set_changes_no_vector(name, place):
    made = ENCODERS[name]()
    (expected,) = made.embed_iter([["the", "sat"]])
    with ExitStack() as own:
        own.enter_context(torch.device("meta"))
        own.enter_context(torch.autocast("cpu", torch.bfloat16))
        own.callback(torch.set_default_dtype, torch.get_default_dtype())
        torch.set_default_dtype(torch.float64)
        encoder = made if place == "where it computes" else ENCODERS[name]()
        (found,) = encoder.embed_iter([["the", "sat"]])
    assert found.dtype == np.float32 and np.array_equal(found, expected)
