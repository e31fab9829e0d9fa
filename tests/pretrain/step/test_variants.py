"""Whole runs of every kind of model: trained, saved, evaluated, resumed."""

import math
from dataclasses import replace
from typing import Any

import pytest
import torch

from elmo.lm.in_torch import TorchLanguageModel
from elmo.lm.perplexity import evaluate
from elmo.model.bilm import BiLM
from elmo.model.lm_head import LMHead
from elmo.pretrain.run.training import train
from elmo.weights.native.read import read

KINDS: dict[str, dict[str, Any]] = {
    "full, forward": {"softmax": "full", "direction": "forward"},
    "adaptive": {"softmax": "adaptive", "softmax_cutoffs": (8, 15)},
    "tied words": {"characters": "none", "tie_softmax": True},
    "dictionary, backward": {"characters": "dictionary", "direction": "backward"},
    "lazy adamw": {"optimizer": "adamw", "learning_rate": 0.01, "lazy_rows": True},
}
SENTENCE = ["the", "zebra", "sat"]


def _brute_nats(bilm: BiLM, head: LMHead, direction: str) -> float:
    """One sentence, one direction, word by word through the whole distribution."""
    order = ["<S>", *SENTENCE, "</S>"] if direction == "forward" else ["</S>", *SENTENCE[::-1], "<S>"]
    vectors = bilm.vectors_of(order[:-1])[None]
    state = bilm.zero_state(1)
    lstm = getattr(bilm, f"{direction}_lstm")
    size = lstm.layers[0].bias.shape[0] // 4
    hidden, cell = state.hidden[..., : vectors.shape[2]], state.cell[..., :size]
    outputs = lstm(vectors, torch.tensor([len(order) - 1]), hidden, cell)[0][-1][0]
    chances = torch.softmax(head.logits(outputs), dim=1)
    ids = [head.vocabulary.index(word if word in head.vocabulary else "<UNK>") for word in order[1:]]
    return -sum(math.log(chances[place, word]) for place, word in enumerate(ids))


@pytest.mark.parametrize("kind", KINDS)
def test_a_trained_model_of_every_kind_is_read_again_and_evaluated_exactly(data, recipe, tmp_path, kind):
    folder = train(data, tmp_path / "run", replace(recipe, **KINDS[kind], max_steps=3)).model
    bilm, head = BiLM.from_pretrained(folder), LMHead.from_checkpoint(read(folder))
    if kind == "tied words":
        assert torch.equal(head.weight, bilm.token_encoder.word_embedding[1:])
    found = evaluate(TorchLanguageModel(bilm, head), [SENTENCE])
    assert list(found.nats) == list(bilm.config.directions)
    with torch.no_grad():
        for direction, nats in found.nats.items():
            assert nats == pytest.approx(_brute_nats(bilm, head, direction), rel=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_a_resumed_run_of_every_kind_ends_like_a_whole_one(data, recipe, tmp_path, kind):
    config = replace(recipe, **KINDS[kind], max_steps=4)
    whole = read(train(data, tmp_path / "whole", config).model)
    train(data, tmp_path / "run", replace(config, max_steps=2))
    again = read(train(data, tmp_path / "run", config).model)
    assert again.token_map == whole.token_map
    for one, other in ((again.tensors, whole.tensors), (again.softmax, whole.softmax)):
        assert one.keys() == other.keys()
        assert all((one[name] == other[name]).all() for name in one)
