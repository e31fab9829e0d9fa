"""The biattentive classification network: equal to plain loops, and indifferent to its batch."""

import math
from dataclasses import replace

import pytest
import torch
from tests.tasks.small_models import small_tokens, static_of

from elmo.tasks.sst.data import ClassifierSettings, LabelledSentence
from elmo.tasks.sst.model import Classifier

LABELS = {"labels": ["bad", "good", "odd"]}
SENTENCES = ["a fine film indeed", "poor", "", "a film"]
WORDS = ["a", "fine", "film", "indeed", "poor"]


def examples(sentences=SENTENCES, label="good"):
    return [LabelledSentence(sentence.split(), label) for sentence in sentences]


@pytest.fixture
def build(tiny_bilm):
    def build(settings=None, encoder="none", **tokens):
        bilm = None if encoder == "none" else tiny_bilm
        torch.manual_seed(0)
        settings = settings or ClassifierSettings(hidden_size=4)
        return Classifier(settings, LABELS, small_tokens(bilm, static_of(WORDS), **tokens))

    return build


def both_ways(stack, vectors):
    """The outputs of a stack's only layer, read from either end."""
    forward, backward = stack.layers[0]
    ahead = forward(torch.stack(vectors)[None])[0][0]
    back = backward(torch.stack(vectors[::-1])[None])[0][0].flip(0)
    return list(torch.cat([ahead, back], dim=1))


def plain_logits(model, example):
    """One sentence, one token after another; only the LSTMs are torch's."""
    vectors = model.tokens([example.tokens])
    read = [torch.relu(model.project.weight @ vector + model.project.bias) for vector in vectors.input[0]]
    hidden = both_ways(model.encoder, read)
    if vectors.output is not None:
        hidden = [torch.cat(pair) for pair in zip(hidden, vectors.output[0], strict=True)]
    together = []
    for own in hidden:
        powers = [math.exp(own @ other) for other in hidden]
        attended = sum(power / sum(powers) * other for power, other in zip(powers, hidden, strict=True))
        together.append(torch.cat([own, own - attended, own * attended]))
    integrated = both_ways(model.integrator, together)
    powers = [math.exp(model.attentive.score(vector)) for vector in integrated]
    pooled = [torch.stack([max(column) for column in zip(*integrated, strict=True)])]
    pooled += [torch.stack([min(column) for column in zip(*integrated, strict=True)])]
    pooled += [sum(integrated) / len(integrated)]
    pooled += [sum(power / sum(powers) * vector for power, vector in zip(powers, integrated, strict=True))]
    vector = torch.cat(pooled)
    for layer in model.head:
        if hasattr(layer, "pieces"):
            pieces = layer.linear.weight @ vector + layer.linear.bias
            vector = torch.stack([max(pieces[i : i + layer.pieces]) for i in range(0, len(pieces), layer.pieces)])
        else:
            vector = layer(vector)
    return vector


@pytest.mark.parametrize("head", ["maxout", "relu"])
@pytest.mark.parametrize("tokens", [{}, {"encoder": "elmo"}, {"encoder": "elmo", "placement": "both"},
                                    {"encoder": "elmo", "placement": "output"}])  # fmt: skip
@torch.no_grad()
def test_the_network_equals_plain_loops(build, tokens, head):
    model = build(ClassifierSettings(hidden_size=4, head=head), **tokens).eval()
    batch = examples()
    found = model(batch)
    for row, example in enumerate(batch):
        if example.tokens:
            torch.testing.assert_close(found[row], plain_logits(model, example), atol=1e-5, rtol=1e-5)
    assert torch.isfinite(found).all()


@pytest.mark.parametrize("hidden", [4, 300])
def test_widths_are_the_specifications(build, hidden):
    model = build(ClassifierSettings(hidden_size=hidden))
    widths = [layer.linear.out_features // layer.pieces for layer in model.head if hasattr(layer, "pieces")]
    assert widths == [4 * hidden, 2 * hidden, 3]  # 1200, 600 and the labels for 300
    assert model.integrator.layers[0][0].input_size == 6 * hidden
    assert [layer.p for layer in model.head if isinstance(layer, torch.nn.Dropout)] == [0.1, 0.2, 0.3]


def test_empty_sentences_alone_do_no_harm(build):
    model = build()
    loss = model.loss(examples(["", ""]))
    loss.backward()
    assert torch.isfinite(loss)
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


def test_the_loss_is_the_mean_cross_entropy(build):
    model = build().eval()
    labels = ["bad", "odd", "good", "bad"]
    batch = [replace(example, label=label) for example, label in zip(examples(), labels, strict=True)]
    shares = [prediction["probabilities"] for prediction in model.predict(batch)]
    expected = -sum(math.log(share[example.label]) for share, example in zip(shares, batch, strict=True)) / 4
    assert model.loss(batch).item() == pytest.approx(expected, rel=1e-5)
    assert all(sum(share.values()) == pytest.approx(1) for share in shares)


@torch.no_grad()
def test_a_char_cnn_stands_beside_the_vectors_or_alone(build, monkeypatch):
    monkeypatch.setitem(LABELS, "characters", list("adefilmnopr"))
    settings = ClassifierSettings(hidden_size=4, character_filters=5)
    for tokens in ({"encoder": "elmo"}, {"encoder": "elmo", "placement": "output"}, {}):
        model = build(settings, **tokens).eval()
        assert model.project.in_features == model.tokens.input_dim + 5
        (whole, *_) = model(examples())
        torch.testing.assert_close(model(examples(SENTENCES[:1]))[0], whole, atol=1e-5, rtol=1e-5)
    assert Classifier(settings, LABELS, small_tokens()).project.in_features == 5
