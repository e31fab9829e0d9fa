"""The tagger: its loss is that of a plain loop, padding and unknown tags play no part."""

from dataclasses import replace

import pytest
import torch
from tests.tasks.small_models import small_tokens

from elmo.tasks.columns import TaggedSentence
from elmo.tasks.pos.data import TokenTaggerSettings
from elmo.tasks.pos.model import TokenTagger
from elmo.tasks.pos.task import TASK
from elmo.tasks.settings import FitSettings
from elmo.tasks.train.apply import predict_and_loss

VOCABULARY = {"labels": ["ADP", "NOUN", "VERB"], "words": ["Bell", "saw"], "characters": list("ABabcdelorswxy")}
EXAMPLES = [
    TaggedSentence(["Bell", "saw", "Rome"], tags=["NOUN", "VERB", "NOUN"]),
    TaggedSentence([]),
    TaggedSentence(["x"], tags=["ADP"]),
]


def tagger():
    torch.manual_seed(0)
    return TokenTagger(TokenTaggerSettings(hidden_sizes=(6, 4)), VOCABULARY, small_tokens())


def test_each_token_has_a_tag_and_is_known_or_not():
    found = tagger().eval().predict(EXAMPLES)
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
    assert model.loss([TaggedSentence(["x"], tags=["new"])]) == 0


@pytest.mark.parametrize("size", [1, 2])
def test_the_dev_loss_is_the_mean_over_all_tokens_in_any_batches(size):
    model = tagger()
    expected = model.eval().loss(EXAMPLES).item()
    assert predict_and_loss(model, TASK, EXAMPLES, FitSettings(batch_size=size))[1] == pytest.approx(expected, rel=1e-6)
