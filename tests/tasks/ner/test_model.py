"""The tagger: every setting of it trains, and its loss is the CRF's."""

import pytest
import torch
from tests.tasks.small_models import small_tokens

from elmo.errors import ConfigError
from elmo.tasks.columns import TaggedSentence
from elmo.tasks.ner.data import NerSettings, TaggerSettings
from elmo.tasks.ner.model import Tagger
from elmo.tasks.ner.task import TASK
from elmo.tasks.settings import TokenSettings

VOCABULARY = {"labels": ["LOC", "PER"], "characters": list("ABabcdefghijklmnopqrstuvwxyz")}
EXAMPLES = [
    TaggedSentence(["Bell", "saw", "Rome"], [(0, 1, "PER"), (2, 3, "LOC")]),
    TaggedSentence([]),
    TaggedSentence(["New", "York", "", "x"], [(0, 2, "LOC")]),
]


def tagger(bilm=None, placement="input", **changes):
    torch.manual_seed(0)
    settings = TaggerSettings(hidden_sizes=(6, 4), **changes)
    return Tagger(settings, VOCABULARY, small_tokens(bilm, placement=placement))


def test_every_learned_weight_has_a_gradient_between_the_layers_too(bilm):
    model = tagger(bilm, placement="between")
    model.loss(EXAMPLES).backward()
    for name, parameter in model.named_parameters():
        assert (parameter.grad is not None) == parameter.requires_grad, name


def test_elmo_between_the_layers_is_read_by_the_second_one(bilm):
    model = tagger(bilm, placement="between").eval()
    first, second = (layer[0] for layer in model.bilstm.layers)
    assert second.input_size == 12 + model.tokens.elmo_dim("between")
    assert first.input_size == TaggerSettings().character_filters
    settings = NerSettings(TokenSettings(placement="between"), tagger=TaggerSettings(hidden_sizes=(6,)))
    with pytest.raises(ConfigError, match=r"hidden_sizes \(6,\) has one"):
        TASK.check_settings(settings)
