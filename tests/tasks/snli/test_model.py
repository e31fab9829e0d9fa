"""ESIM equals the original's values stage by stage, and treats both sides alike."""

import pytest
import torch
from tests.tasks.small_models import small_tokens, static_of
from torch.nn import functional

from elmo.tasks.layers.attention import compare, mean_and_max
from elmo.tasks.layers.recurrent import BiLSTM
from elmo.tasks.snli.data import EntailmentSettings, SentencePair
from elmo.tasks.snli.model import ESIM
from elmo.tasks.tokens.representation import TokenVectors

LABELS = {"labels": ["entailment", "neutral", "contradiction"]}
WORDS = ["a", "man", "sleeps", "old", "nobody"]
PAIRS = [
    SentencePair(["a", "man", "sleeps"], ["a", "man"], "entailment"),
    SentencePair(["a", "man", "sleeps"], ["a", "old", "man", "sleeps"], "neutral"),
    SentencePair(["a", "man", "sleeps"], ["nobody"], "contradiction"),
    SentencePair([], ["man"], "neutral"),
]


@pytest.fixture
def build(tiny_bilm):
    def build(settings=None, encoder="none", **tokens):
        bilm = None if encoder == "none" else tiny_bilm
        torch.manual_seed(0)
        settings = settings or EntailmentSettings(hidden_size=8)
        return ESIM(settings, LABELS, small_tokens(bilm, static_of(WORDS), **tokens))

    return build


class Sizes(torch.nn.Module):
    """Takes the place of a token representation whose vectors are given by hand."""

    def __init__(self, input_dim):
        super().__init__()
        self.input_dim, self.output_dim = input_dim, 0

    def require_input(self):
        return self.input_dim


def golden_model(arrays, dtype):
    """The original's weights in our network; its two linear layers and the hidden sizes all differ."""
    weight = {name.removeprefix("weight."): value for name, value in arrays.items() if name.startswith("weight.")}
    model = ESIM(EntailmentSettings(hidden_size=4), LABELS, Sizes(arrays["premise"].shape[2]))
    model.encoder = BiLSTM(arrays["premise"].shape[2], [weight["_encoder._module.weight_hh_l0"].shape[1]])
    project = weight["_projection_feedforward._linear_layers.0.weight"]
    model.project = torch.nn.Linear(*project.shape[::-1])
    model.composition = BiLSTM(project.shape[0], [weight["_inference_encoder._module.weight_hh_l0"].shape[1]])
    hidden = weight["_output_feedforward._linear_layers.0.weight"]
    model.classifier[1] = torch.nn.Linear(*hidden.shape[::-1])
    model.classifier[4] = torch.nn.Linear(hidden.shape[0], 3)
    model.load_state_dict({our_name(name): value for name, value in weight.items()})
    return model.to(dtype).eval()


OUR_NAMES = {
    "encoder.layers.0.{}": "_encoder._module",
    "composition.layers.0.{}": "_inference_encoder._module",
    "project": "_projection_feedforward._linear_layers.0",
    "classifier.1": "_output_feedforward._linear_layers.0",
    "classifier.4": "_output_logit._linear_layers.0",
}


def our_name(name):
    """Of one of the original's weights."""
    own, theirs = next(pair for pair in OUR_NAMES.items() if name.startswith(pair[1]))
    rest = name.removeprefix(theirs)
    return own.format("1" if rest.endswith("_reverse") else "0") + rest.removesuffix("_reverse")


@pytest.mark.parametrize(("dtype", "kind", "tolerance"), [(torch.float64, "f64", 1e-9), (torch.float32, "f32", 1e-5)])
@pytest.mark.parametrize("name", ["small", "larger"])
def test_every_stage_and_gradient_equals_the_originals(golden_arrays, name, dtype, kind, tolerance):
    arrays = golden_arrays(f"esim/{name}")
    model = golden_model(arrays, dtype)
    near = {"rtol": tolerance if kind == "f32" else 0, "atol": tolerance}
    sides = {}
    for side in ("premise", "hypothesis"):
        mask = torch.arange(arrays[side].shape[1]) < arrays[f"{side}_lengths"][:, None]
        encoded = model.encode(TokenVectors({"given": arrays[side].to(dtype)}, {}, mask))
        sides[side] = (encoded, mask)
    pooled = []
    for side, other in (("premise", "hypothesis"), ("hypothesis", "premise")):
        encoded, mask = sides[side]
        compared = compare(encoded, *sides[other])
        projected = torch.relu(model.project(compared))
        composed = model.composition(projected, mask)
        pooled.append(mean_and_max(composed, mask))
        stages = {"encoded": encoded, "enhanced": compared, "projected": projected, "composed": composed}
        for stage, found in stages.items():
            expected = arrays.get(f"{stage}_{side}_{kind}")
            if expected is not None:
                torch.testing.assert_close(found[mask], expected[mask], **near)
    if f"pooled_{kind}" in arrays:
        torch.testing.assert_close(torch.cat(pooled, dim=1), arrays[f"pooled_{kind}"], **near)
    logits = model.classify(*sides["premise"], *sides["hypothesis"])
    torch.testing.assert_close(logits, arrays[f"logits_{kind}"], **near)
    loss = functional.cross_entropy(logits, arrays["labels"])
    if f"loss_{kind}" in arrays:
        torch.testing.assert_close(loss, arrays[f"loss_{kind}"].to(dtype), **near)
    if (name, kind) == ("small", "f64"):
        loss.backward()
        gradients = {
            our_name(name.removeprefix("grad.").removesuffix("_f64")): gradient
            for name, gradient in golden_arrays("esim/small_gradients").items()
        }
        torch.testing.assert_close({name: one.grad for name, one in model.named_parameters()}, gradients, **near)


@torch.no_grad()
def test_hidden_premises_change_nothing(build):
    model = build(EntailmentSettings(hidden_size=8, premises="hide")).eval()
    torch.testing.assert_close(model(PAIRS[:1]), model([SentencePair(["old"], PAIRS[0].hypothesis)]))
    seeing = build().eval()
    assert not torch.allclose(seeing(PAIRS[:1]), seeing([SentencePair(["old"], PAIRS[0].hypothesis)]))


def test_labels_that_training_does_not_have_have_no_held_out_loss(build):
    model = build()
    assert model.held_out_loss_of(model(PAIRS[:1]), [SentencePair(["a"], ["man"], "maybe")]) is None
    assert model.held_out_loss_of(model(PAIRS), PAIRS) is not None
