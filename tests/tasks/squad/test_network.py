"""BiDAF++ equals AllenNLP's DialogQA (without dialogue features) in every logit and in the loss."""

import pytest
import torch
from torch.nn import functional

from elmo.tasks.squad.model import BiDAF, Text, best_spans

_GRUS = {
    "_phrase_layer": "encoder",
    "_residual_encoder": "residual_encoder",
    "_span_start_encoder": "start_encoder",
    "_span_end_encoder": "end_encoder",
}
_LINEARS = {
    "_merge_atten": "reduce",
    "_merge_self_attention": "residual_reduce",
    "_span_start_predictor": "start",
    "_span_end_predictor": "end",
}


@pytest.fixture(params=["small", "larger"])
def case(request, golden_arrays) -> dict[str, torch.Tensor]:
    return golden_arrays(f"bidaf/{request.param}")


def original(case) -> BiDAF:
    """The network with the original's weights."""
    size = case["weight._phrase_layer._module.weight_hh_l0"].shape[1]
    network = BiDAF(case["passage"].shape[2], 0, size=size).eval()
    with torch.no_grad():
        network.self_attention.null_score.fill_(-1e4)  # the original has no null slot: this one gets nothing
        for theirs, ours in _GRUS.items():
            layer = network.get_submodule(ours)
            for name, parameter in layer.forward_gru.named_parameters():
                parameter.copy_(case[f"weight.{theirs}._module.{name}"])
            for name, parameter in layer.backward_gru.named_parameters():
                parameter.copy_(case[f"weight.{theirs}._module.{name}_reverse"])
        for theirs, ours in _LINEARS.items():
            for name, parameter in network.get_submodule(ours).named_parameters():
                parameter.copy_(case[f"weight.{theirs}._module.{name}"])
        for theirs, ours in (("_matrix_attention", network.attention), ("_self_attention", network.self_attention)):
            weights = case[f"weight.{theirs}._weight_vector"].chunk(3)
            scores = ours.scores
            for parameter, weight in zip(
                (scores.row_weight, scores.column_weight, scores.product_weight), weights, strict=True
            ):
                parameter.copy_(weight)
            scores.bias.copy_(case[f"weight.{theirs}._bias"])
    return network


def text(case, name, dtype) -> Text:
    mask = torch.arange(case[name].shape[1])[None, :] < case[f"{name}_lengths"][:, None]
    return Text(case[name].to(dtype), None, mask)


@pytest.mark.parametrize(("dtype", "suffix", "tolerance"), [(torch.float32, "f32", 2e-5), (torch.float64, "f64", 1e-9)])
def test_logits_loss_and_spans_equal_the_originals(case, dtype, suffix, tolerance):
    passage = text(case, "passage", dtype)
    start, end = original(case).to(dtype)(passage, text(case, "question", dtype))
    mask = passage.mask
    for found, name in ((start, "start_logits"), (end, "end_logits")):
        torch.testing.assert_close(found[mask], case[f"{name}_{suffix}"][mask], atol=tolerance, rtol=tolerance)
    losses = [
        functional.cross_entropy(logits.masked_fill(~mask, -torch.inf), case[name][:, 0])
        for logits, name in ((start, "gold_start"), (end, "gold_end"))
    ]
    torch.testing.assert_close(sum(losses), case[f"loss_{suffix}"], atol=tolerance, rtol=tolerance)
    assert torch.equal(best_spans(start, end, mask, max_tokens=len(mask[0])), case["best_span_unbounded"])
