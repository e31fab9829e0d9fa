"""Sentence scores against the definition: the sum of ln p over a sentence's predictions, tested in test_perplexity."""

from dataclasses import replace

import pytest
import torch

from elmo.lm.in_torch import TorchLanguageModel
from elmo.lm.perplexity import scores, sentence_scores
from elmo.model.bilm import BiLM
from elmo.model.lm_head import LMHead

WORDS = ["<S>", "</S>", "<UNK>", "the", "bank", "was", "steep", "."]
SENTENCES = [["the", "bank", "was", "steep", "."], [], ["zebra"]]


@pytest.mark.parametrize("direction", ["both", "forward", "backward"])
def test_scores_are_sums_of_log_probabilities(tiny_config, direction):
    torch.manual_seed(3)
    config = replace(tiny_config, direction=direction)
    model = TorchLanguageModel(BiLM(config).eval(), LMHead(WORDS, config.projection_size).eval())
    found = list(sentence_scores(model, SENTENCES))
    for sentence, score, predictions in zip(SENTENCES, found, scores(model, SENTENCES), strict=True):
        expected = {name: -sum(map(float, nats)) for name, nats in predictions.nats.items()}
        assert list(expected) == list(config.directions)
        assert score.log_probability == pytest.approx(expected)
        assert score.mean == pytest.approx(sum(expected.values()) / len(expected))
        assert score.per_prediction == pytest.approx(score.mean / (len(sentence) + 1))
    assert [(score.num_tokens, score.num_unknown) for score in found] == [(5, 0), (0, 0), (1, 1)]
