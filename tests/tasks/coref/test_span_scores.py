"""Span vectors and buckets equal AllenNLP's extractors."""

import json

import pytest
import torch

from elmo.tasks.coref.model import bucket
from elmo.tasks.coref.spans import endpoints, heads


@pytest.fixture(params=["random", "wide"])
def case(request, golden_arrays) -> dict[str, torch.Tensor]:
    return golden_arrays(f"spans/{request.param}")


@pytest.mark.parametrize(("dtype", "suffix", "tolerance"), [(torch.float32, "f32", 1e-5), (torch.float64, "f64", 1e-9)])
def test_spans_equal_the_originals(case, dtype, suffix, tolerance):
    table, weight = case["width_embedding"].to(dtype), case["attention_weight"].to(dtype)
    for row, (vectors, spans) in enumerate(zip(case["sequence"].to(dtype), case["spans"], strict=True)):
        first, last = endpoints(vectors, spans)
        widths = table[spans[:, 1] - spans[:, 0]]
        scores = vectors @ weight + case["attention_bias"].to(dtype)
        found = {
            "endpoint": torch.cat([first, last, widths], dim=1),
            "endpoint_products": torch.cat([first, last, first * last, first - last], dim=1),
            "attentive": heads(scores, spans, vectors),
        }
        for name, values in found.items():
            torch.testing.assert_close(values, case[f"{name}_{suffix}"][row], atol=tolerance, rtol=tolerance)


def test_no_spans_are_no_error():
    spans = torch.zeros(0, 2, dtype=torch.int64)
    assert heads(torch.zeros(3), spans, torch.zeros(3, 4)).shape == (0, 4)


def test_buckets_equal_the_originals(golden_folder):
    case = json.loads((golden_folder / "tasks" / "spans" / "buckets.json").read_text())
    assert bucket(torch.tensor(case["values"])).tolist() == case["default_4_10"]
