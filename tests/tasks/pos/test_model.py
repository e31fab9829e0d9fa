"""The tagger: every placement trains, its loss is that of a plain loop, padding and unknown tags play no part."""

from dataclasses import replace

import pytest
import torch

from elmo.errors import ConfigError
from elmo.tasks.pos.data import TagSentence
from elmo.tasks.pos.settings import PosSettings, TokenTaggerSettings
from elmo.tasks.pos.task import TASK
from elmo.tasks.settings import FitSettings, TokenSettings
from elmo.tasks.tokens.frozen_layers import FrozenLayers
from elmo.tasks.tokens.representation import TokenRepresentation, TokenSources
from elmo.tasks.train.apply import predict_and_loss

VOCABULARY = {"labels": ["ADP", "NOUN", "VERB"], "words": ["Bell", "saw"], "characters": list("ABabcdelorswxy")}
EXAMPLES = [
    TagSentence(["Bell", "saw", "Rome"], tags=["NOUN", "VERB", "NOUN"]),
    TagSentence([]),
    TagSentence(["x"], tags=["ADP"]),
]


def tagger(bilm=None, **changes):
    torch.manual_seed(0)
    tokens = {key: changes.pop(key) for key in ("placement", "layers", "train_bilm") if key in changes}
    encoder = "none" if bilm is None else "elmo"
    sources = TokenSources(None if bilm is None else FrozenLayers(bilm))
    representation = TokenRepresentation(TokenSettings(encoder=encoder, elmo_dropout=0.0, **tokens), sources)
    settings = replace(PosSettings(), tagger=TokenTaggerSettings(**{"hidden_sizes": (6, 4)} | changes))
    return TASK.build(settings, VOCABULARY, representation)


@pytest.mark.parametrize("train_bilm", [False, True], ids=["frozen", "live"])
@pytest.mark.parametrize("placement", ["input", "output", "both"])
def test_every_learned_weight_has_a_gradient_and_each_token_a_tag(bilm, placement, train_bilm):
    model = tagger(bilm, placement=placement, train_bilm=train_bilm)
    (model.loss(EXAMPLES) + model.tokens.penalty()).backward()
    reached = {name for name, one in model.named_parameters() if one.grad is not None}
    learned = {name for name, one in model.named_parameters() if one.requires_grad}
    # Of a biLM, the softmax over its words takes no part.
    assert {name for name in learned - reached if "softmax" not in name} == set()
    assert reached <= learned
    found = model.eval().predict(EXAMPLES)
    assert [len(it.tags) for it in found] == [3, 0, 1]
    assert {tag for it in found for tag in it.tags} <= set(VOCABULARY["labels"])
    assert [it.known for it in found] == [[True, True, False], [], [False]]


def test_the_loss_is_that_of_a_plain_loop_over_the_tokens():
    model = tagger().eval()
    losses = []
    for example in EXAMPLES:
        if example.tokens:
            for row, tag in zip(model([example])[0], example.tags, strict=True):
                losses.append(torch.log(torch.exp(row).sum()) - row[VOCABULARY["labels"].index(tag)])
    assert len(losses) == 4
    torch.testing.assert_close(model.loss(EXAMPLES), torch.stack(losses).mean())


def test_tags_that_training_doesnt_have_are_left_out_of_the_loss():
    model = tagger().eval()
    other = replace(EXAMPLES[0], tags=["NOUN", "new", "NOUN"])
    found = model.loss([other])
    rows = model([other])[0].log_softmax(dim=1)
    torch.testing.assert_close(found, -(rows[0, 1] + rows[2, 1]) / 2)
    assert model.loss([TagSentence(["x"], tags=["new"])]) == 0


def test_a_tagger_that_reads_nothing_is_refused(bilm):
    with pytest.raises(ConfigError, match="the model would read nothing"):
        tagger(character_filters=0)
    with pytest.raises(ConfigError, match="the model would read nothing"):
        tagger(bilm, placement="output", character_filters=0)
    settings = PosSettings(TokenSettings(encoder="none"), tagger=TokenTaggerSettings(character_filters=0))
    with pytest.raises(ConfigError, match="the model would read nothing"):
        TASK.check_settings(settings)
    with pytest.raises(ConfigError, match="can take ELMo only at these places: input, output"):
        TASK.check_settings(PosSettings(TokenSettings(placement="between")))


def test_dropout_is_off_outside_of_training():
    model = tagger().eval()
    assert torch.equal(model.loss(EXAMPLES), model.loss(EXAMPLES))
    assert not torch.equal(model.train().loss(EXAMPLES), model.loss(EXAMPLES))


@pytest.mark.parametrize("size", [1, 2])
def test_the_dev_loss_is_the_mean_over_all_tokens_in_any_batches(size):
    model = tagger()
    expected = model.eval().loss(EXAMPLES).item()
    assert predict_and_loss(model, TASK, EXAMPLES, FitSettings(batch_size=size))[1] == pytest.approx(expected, rel=1e-6)
