"""Best spans equal brute force over all spans, ties included."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elmo.tasks.squad.spans import best_spans


def brute_force(start, end, length, limit):
    spans = [(i, j) for i in range(length) for j in range(i, min(i + limit, length))]
    return min(spans, key=lambda span: (-(start[span[0]] + end[span[1]]), span[1] - span[0], span[0]))


@given(st.data())
def test_spans_equal_brute_force(data):
    length, padding = data.draw(st.integers(1, 9)), data.draw(st.integers(0, 3))
    limit = data.draw(st.integers(1, 12))
    # Few different values, so that ties are frequent.
    logits = st.lists(st.integers(-3, 3), min_size=length, max_size=length)
    start, end = data.draw(logits), data.draw(logits)
    rows = [torch.tensor([*row, *[9] * padding], dtype=torch.float32)[None] for row in (start, end)]
    mask = torch.arange(length + padding)[None, :] < length
    assert tuple(best_spans(*rows, mask, limit)[0].tolist()) == brute_force(start, end, length, limit)


@pytest.mark.parametrize("name", ["docqa_small", "docqa_larger"])
@pytest.mark.parametrize("limit", ["", "_17", "_1", "_unbounded"])
def test_spans_equal_the_originals(name, limit, golden_folder, request):
    path = golden_folder / "tasks" / "bidaf" / f"{name}.npz"
    if not path.is_file():
        path = request.getfixturevalue("shared") / "golden" / "tasks" / "bidaf" / path.name
    with np.load(path, allow_pickle=False) as case:
        start, end = torch.from_numpy(case["start_logits"]), torch.from_numpy(case["end_logits"])
        lengths, bound = torch.from_numpy(case["passage_lengths"]), int(case["span_bound"])
        expected = case[f"best_span{limit}"]
    mask = torch.arange(start.shape[1])[None, :] < lengths[:, None]
    most = {"": bound, "_17": 17, "_1": 1, "_unbounded": start.shape[1]}[limit]
    np.testing.assert_array_equal(best_spans(start, end, mask, most), expected)
