"""The engine's language model equals torch's: the same files, every figure, on several shapes of softmax."""

import dataclasses

import numpy as np
import pytest
import torch

from elmo.lm.in_torch import TorchLanguageModel
from elmo.lm.language_model import EngineLanguageModel
from elmo.lm.perplexity import EvaluationState, evaluate, scores
from elmo.lm.substitutes import substitutes
from elmo.model.bilm import BiLM
from elmo.model.lm_head import LMHead
from elmo.weights.checkpoint import Checkpoint

SENTENCES = [["the", "bank", "banks"], ["banking", "", "밥"], ["the"]]


@pytest.fixture(params=["full", "clusters"])
def checkpoint(request: pytest.FixtureRequest, language_model: Checkpoint) -> Checkpoint:
    if request.param == "full":
        return language_model
    assert language_model.vocabulary is not None
    torch.manual_seed(4)
    clusters = [(1, 3), (1, 2)]
    head = LMHead(language_model.vocabulary, language_model.config.projection_size, clusters)
    softmax = {name: tensor.detach().numpy() for name, tensor in head.named_parameters()}
    return dataclasses.replace(language_model, softmax=softmax)


@pytest.fixture
def both(checkpoint: Checkpoint) -> tuple[EngineLanguageModel, TorchLanguageModel]:
    bilm, head = BiLM.from_checkpoint(checkpoint), LMHead.from_checkpoint(checkpoint)
    return EngineLanguageModel(checkpoint), TorchLanguageModel(bilm, head)


@pytest.mark.parametrize("state", ["zero", "carry"])
def test_both_give_the_same_nats(both, state: EvaluationState):
    for ours, oracle in zip(*(scores(model, SENTENCES, state=state, rows=2) for model in both), strict=True):
        for direction, nats in oracle.nats.items():
            assert ours.nats[direction].dtype == np.float32
            np.testing.assert_allclose(ours.nats[direction], nats, atol=2e-6)
        assert ours.kinds.tolist() == oracle.kinds.tolist()
    ours, oracle = (evaluate(model, SENTENCES, state=state).to_dict() for model in both)
    assert ours == pytest.approx(oracle, rel=1e-6)


def test_both_give_the_same_substitutes(both):
    ours, oracle = (substitutes(model, SENTENCES[0], 1) for model in both)
    for direction, expected in oracle.items():
        found = ours[direction]
        assert [word for word, _ in found.best] == [word for word, _ in expected.best]
        assert [value for _, value in found.best] == pytest.approx([value for _, value in expected.best], rel=1e-5)
        assert (found.rank, found.probability) == (expected.rank, pytest.approx(expected.probability, rel=1e-5))
