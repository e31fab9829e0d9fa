"""Sentence scores against the definition: the sum of ln p over a sentence's predictions."""

import math
from dataclasses import replace

import pytest
import torch

from elmo.config import BiLMConfig
from elmo.lm.in_torch import TorchLanguageModel
from elmo.lm.perplexity import sentence_scores
from elmo.model.bilm import BiLM
from elmo.model.lm_head import LMHead

WORDS = ["<S>", "</S>", "<UNK>", "the", "bank", "was", "steep", "."]
SENTENCES = [["the", "bank", "was", "steep", "."], [], ["zebra"]]


@pytest.mark.parametrize("direction", ["both", "forward", "backward"])
def test_scores_are_sums_of_log_probabilities(tiny_config: BiLMConfig, direction: str) -> None:
    torch.manual_seed(3)
    config = replace(tiny_config, direction=direction)
    bilm, head = BiLM(config).eval(), LMHead(WORDS, config.projection_size).eval()
    found = list(sentence_scores(TorchLanguageModel(bilm, head), SENTENCES))
    for sentence, score in zip(SENTENCES, found, strict=True):
        expected = {}
        for name, lstm in zip(config.directions, bilm.lstms, strict=True):
            words = ["<S>", *sentence, "</S>"][:: 1 if name == "forward" else -1]
            state = bilm.zero_state(1)
            hidden, cell = (part.chunk(len(bilm.lstms), dim=2)[0] for part in (state.hidden, state.cell))
            with torch.no_grad():
                outputs, _, _ = lstm(bilm.vectors_of(words[:-1])[None], torch.tensor([len(words) - 1]), hidden, cell)
                chances = torch.log_softmax(outputs[-1][0] @ head.weight.t() + head.bias, dim=1)
            ids = [WORDS.index(word) if word in WORDS else 2 for word in words[1:]]
            expected[name] = sum(float(chances[place, index]) for place, index in enumerate(ids))
        assert score.log_probability == pytest.approx(expected, abs=1e-4)
        assert score.mean == pytest.approx(sum(expected.values()) / len(expected), abs=1e-4)
        assert math.isclose(score.per_prediction * (len(sentence) + 1), score.mean)
    assert [(score.num_tokens, score.num_unknown) for score in found] == [(5, 0), (0, 0), (1, 1)]
