"""The role labeler equals the original's values, treats each predicate by itself, and learns."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.tasks.small_models import small_tokens, static_of

from elmo.tasks.settings import FitSettings
from elmo.tasks.srl.data import LabelerSettings, Proposition, RoleSentence, one_by_one
from elmo.tasks.srl.model import Instances, RoleLabeler, token_cross_entropy
from elmo.tasks.srl.task import TASK
from elmo.tasks.tokens.representation import TokenVectors
from elmo.tasks.train.apply import predict_and_loss

WORDS = ["she", "gave", "him", "a", "book", "and", "left"]
LABELS = {"labels": ["A0", "A1", "A2", "V"]}
SENTENCES = [
    RoleSentence(
        WORDS,
        [
            Proposition((1, 2), [(0, 1, "A0"), (1, 2, "V"), (2, 3, "A2"), (3, 5, "A1")]),
            Proposition((6, 7), [(0, 1, "A0"), (6, 7, "V")]),
        ],
        [(1, 2), (6, 7)],
    ),
    RoleSentence(["a", "book"], predicates=[]),
    RoleSentence(["left"], [Proposition((0, 1), [(0, 1, "V")])], [(0, 1)]),
]


@pytest.fixture
def build(tiny_bilm):
    def build(settings=None, encoder="none", **tokens):
        torch.manual_seed(0)
        small = LabelerSettings(num_layers=2, hidden_size=16, indicator_dim=3, recurrent_dropout=0.0)
        bilm = None if encoder == "none" else tiny_bilm
        return RoleLabeler(settings or small, LABELS, small_tokens(bilm, static_of(WORDS), **tokens))

    return build


class GivenVectors(torch.nn.Module):
    """Takes the place of the token representation: the vectors of the golden case."""

    input_dim, output_dim = 8, 0

    def __init__(self, vectors, mask):
        super().__init__()
        self.found = TokenVectors({"static": vectors}, {}, mask)

    def require_input(self):
        return self.input_dim

    def forward(self, sentences):
        return self.found


@pytest.mark.parametrize(("dtype", "kind", "tolerance"), [(torch.float64, "f64", 1e-9), (torch.float32, "f32", 1e-5)])
def test_values_and_gradients_equal_the_originals(golden_folder, dtype, kind, tolerance):
    folder = golden_folder / "tasks" / "srl_model"
    labels = json.loads((folder / "four_layers.json").read_text(encoding="utf-8"))["labels"]
    with np.load(folder / "four_layers.npz") as file:
        arrays = {name: torch.from_numpy(file[name]) for name in file}
    lengths = arrays["lengths"].tolist()
    mask = torch.arange(arrays["indicator"].shape[1]) < arrays["lengths"][:, None]
    settings = LabelerSettings(num_layers=4, hidden_size=6, indicator_dim=3, find_predicates=False)
    model = RoleLabeler(settings, {"labels": ["X", "Y"]}, GivenVectors(arrays["embeddings"].to(dtype), mask))
    model.tags, model._numbers = labels, {tag: number for number, tag in enumerate(labels)}
    model.project = torch.nn.Linear(6, len(labels))
    model = model.to(dtype).eval()
    state = {"indicator.weight": arrays["weight.binary_feature_embedding.weight"]}
    for part in ("weight", "bias"):
        state[f"project.{part}"] = arrays[f"weight.tag_projection_layer._module.{part}"]
    for layer in range(4):
        cell = f"weight.encoder._module.layer_{layer}.cell"
        state[f"lstm.layers.{layer}.input_weight"] = arrays[f"{cell}.input_linearity.weight"]
        state[f"lstm.layers.{layer}.state_weight"] = arrays[f"{cell}.state_linearity.weight"]
        state[f"lstm.layers.{layer}.state_bias"] = arrays[f"{cell}.state_linearity.bias"]
    model.load_state_dict(state)
    sentences = [
        sentence_of(*parts, labels) for parts in zip(arrays["indicator"], arrays["tags"], lengths, strict=True)
    ]
    logits, _ = model.tag_logits(model.tokens.found, Instances.of(sentences))
    torch.testing.assert_close(logits, arrays[f"logits_{kind}"], rtol=0, atol=tolerance)
    loss = token_cross_entropy(logits, arrays["tags"], mask)
    torch.testing.assert_close(loss, arrays[f"loss_{kind}"].to(dtype), rtol=0, atol=tolerance)
    if kind == "f64":
        loss.backward()
        torch.testing.assert_close(model.project.weight.grad, arrays["grad_tag_projection_f64"], rtol=0, atol=1e-9)
        torch.testing.assert_close(model.indicator.weight.grad, arrays["grad_indicator_f64"], rtol=0, atol=1e-9)


def logits_of(model, sentences):
    return model.tag_logits(model.tokens([own.tokens for own in sentences]), Instances.of(sentences))


def sentence_of(indicator, tags, length, labels):
    """A sentence whose only predicate is where the indicator says."""
    places = indicator[:length].nonzero().flatten().tolist()
    predicate = (places[0], places[-1] + 1) if places else (0, 0)
    return RoleSentence(["x"] * length, [Proposition(predicate)])


def test_each_predicate_has_the_same_roles_in_any_batch(build):
    model = build(encoder="elmo", placement="both").eval()
    together = model.predict(SENTENCES)
    assert [len(own) for own in together] == [2, 0, 1]
    for number, sentence in enumerate(SENTENCES):
        for place, proposition in enumerate(sentence.propositions):
            alone = replace(sentence, propositions=[proposition])
            assert model.predict([alone]) == [[together[number][place]]]
            one, _ = logits_of(model, [alone])
            every, mask = logits_of(model, SENTENCES)
            index = sum(len(other.propositions) for other in SENTENCES[:number]) + place
            torch.testing.assert_close(every[index][mask[index]], one[0])


def test_predicates_are_labeled_a_few_at_a_time_in_long_sentences(build, monkeypatch):
    model = build().eval()
    seen, scored = [], model.tag_logits
    monkeypatch.setattr(model, "tag_logits", lambda *given: seen.append(len(given[1].propositions)) or scored(*given))
    whole = model.predict(SENTENCES)
    monkeypatch.setattr("elmo.tasks.srl.model._MOST_TOKENS", 2 * len(WORDS))
    assert model.predict(SENTENCES) == whole
    assert seen == [3, 2, 1]


def test_predictions_are_spans_that_do_not_overlap(build):
    torch.manual_seed(1)
    model = build().eval()
    spans = model.decode(torch.randn(20, 9, len(model.tags)), torch.ones(20, 9, dtype=torch.bool))
    assert any(spans)
    for own in spans:
        assert all(one[1] <= other[0] for one, other in zip(own, own[1:], strict=False))


def test_a_batch_without_predicates_or_with_unknown_labels_has_a_finite_loss(build):
    model = build()
    assert torch.isfinite(model.loss(SENTENCES[1:2]))
    odd = RoleSentence(["left"], [Proposition((0, 1), [(0, 1, "odd")])])
    assert torch.isfinite(model.loss([odd]))
    assert model.predict(SENTENCES[1:2]) == [[]]


def test_it_learns_the_roles_of_two_predicates(build):
    model = build()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
    for _ in range(60):
        optimizer.zero_grad()
        model.loss(SENTENCES).backward()
        optimizer.step()
    model.eval()
    assert model.predict(SENTENCES) == [list(own.propositions) for own in SENTENCES]
    unmarked = [replace(own, propositions=(), predicates=None) for own in SENTENCES]
    assert model.predict(unmarked) == [list(own.propositions) for own in SENTENCES]


def test_the_finder_does_not_change_what_the_labeler_learns(build):
    alone = LabelerSettings(num_layers=2, hidden_size=16, indicator_dim=3, recurrent_dropout=0.0, find_predicates=False)
    both, one = build(encoder="elmo"), build(alone, encoder="elmo")
    one.load_state_dict({name: both.state_dict()[name] for name in one.state_dict()})
    both.eval(), one.eval()  # without dropout, so that both draw alike
    for model in (both, one):
        model.loss(SENTENCES).backward()
    others = dict(both.named_parameters())
    for name, parameter in one.named_parameters():
        if parameter.grad is not None:
            torch.testing.assert_close(parameter.grad, others[name].grad)
    assert others["finder.project.weight"].grad.abs().sum() > 0


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_dev_loss_is_the_mean_over_all_instances_in_any_batches(build, size):
    model = build().eval()
    expected = np.mean(
        [model.held_out_loss_of(model([one]), [one]).item() for one in one_by_one(SENTENCES, keep_bare=False)]
    )
    assert predict_and_loss(model, TASK, SENTENCES, FitSettings(batch_size=size))[1] == pytest.approx(
        expected, rel=1e-6
    )


def test_sentences_without_tokens_have_no_parts():
    assert list(Instances([0, 0], [], []).parts(512)) == []
