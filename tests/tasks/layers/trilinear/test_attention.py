"""Attention between passage and question, and of a passage to itself: equal to the original layers of document-qa."""

from pathlib import Path

import numpy as np
import pytest
import torch

from elmo.tasks.layers.trilinear import self_attention
from elmo.tasks.layers.trilinear.bi_attention import BiAttention
from elmo.tasks.layers.trilinear.self_attention import SelfAttention


def arrays(path: Path) -> dict[str, torch.Tensor]:
    with np.load(path, allow_pickle=False) as found:
        return {name: torch.from_numpy(found[name]) for name in found.files}


@pytest.fixture(params=["docqa_small", "docqa_larger"])
def case(request, golden_folder) -> dict[str, torch.Tensor]:
    own = golden_folder / "tasks" / "bidaf" / f"{request.param}.npz"
    if own.is_file():
        return arrays(own)
    return arrays(request.getfixturevalue("shared") / "golden" / "tasks" / "bidaf" / own.name)


def mask_of(case, name) -> torch.Tensor:
    return torch.arange(case[name].shape[1])[None, :] < case[f"{name}_lengths"][:, None]


def weigh(layer, case, prefix) -> None:
    layer.scores.row_weight.data = case[f"weight.{prefix}_input_w"]
    layer.scores.column_weight.data = case[f"weight.{prefix}_key_w"]
    layer.scores.product_weight.data = case[f"weight.{prefix}_dot_w"]
    layer.scores.bias.data = case[f"weight.{prefix}_bias"][None]


@pytest.mark.parametrize(("dtype", "suffix", "tolerance"), [(torch.float32, "f32", 2e-5), (torch.float64, "f64", 1e-9)])
def test_bi_attention_equals_the_originals(case, dtype, suffix, tolerance):
    layer = BiAttention(case["passage"].shape[2])
    weigh(layer, case, "bi")
    mask = mask_of(case, "passage")
    found = layer.to(dtype)(case["passage"].to(dtype), case["question"].to(dtype), mask, mask_of(case, "question"))
    torch.testing.assert_close(found[mask], case[f"merged_{suffix}"][mask], atol=tolerance, rtol=tolerance)


@pytest.mark.parametrize(("dtype", "suffix", "tolerance"), [(torch.float32, "f32", 2e-5), (torch.float64, "f64", 1e-9)])
@pytest.mark.parametrize("max_weights", [1 << 24, 20])
def test_self_attention_equals_the_originals(case, dtype, suffix, tolerance, max_weights, monkeypatch):
    monkeypatch.setattr(self_attention, "_MAX_WEIGHTS", max_weights)
    layer = SelfAttention(case["passage"].shape[2])
    weigh(layer, case, "self")
    layer.null_score.data = case["weight.null_logit"][None]
    mask = mask_of(case, "passage")
    found = layer.to(dtype)(case["passage"].to(dtype), mask)
    torch.testing.assert_close(found[mask], case[f"self_merged_{suffix}"][mask], atol=tolerance, rtol=tolerance)


def test_the_null_slot_is_a_term_in_the_denominator():
    torch.manual_seed(0)
    layer, vectors = SelfAttention(3), torch.randn(1, 4, 3)
    scores = layer.scores(vectors, vectors)[0].fill_diagonal_(-torch.inf).exp()
    attended = scores / (scores.sum(dim=1, keepdim=True) + layer.null_score.exp()) @ vectors[0]
    found = layer(vectors, torch.ones(1, 4, dtype=torch.bool))
    torch.testing.assert_close(found[0, :, :3], attended)


@pytest.mark.parametrize("null_slot", [True, False])
def test_a_lone_token_attends_to_nothing(null_slot):
    vectors = torch.ones(1, 2, 3, requires_grad=True)
    found = SelfAttention(3, null_slot=null_slot)(vectors, torch.tensor([[True, False]]))
    assert (found[0, 0, :3] == 0).all()
    found.sum().backward()
    assert vectors.grad.isfinite().all()
