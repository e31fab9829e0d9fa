"""Candidate spans, pruning and antecedents equal plain loops."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st

from elmo.tasks.coref.spans import (
    antecedent_loss,
    antecedent_pairs,
    candidate_spans,
    clusters_of,
    gold_table,
    keep_best,
    score_table,
)


def test_candidates_stay_inside_their_sentence():
    assert candidate_spans([2, 0, 3], 2).tolist() == [[0, 0], [0, 1], [1, 1], [2, 2], [2, 3], [3, 3], [3, 4], [4, 4]]
    assert candidate_spans([1], 10).tolist() == [[0, 0]]
    assert candidate_spans([], 10).shape == (0, 2)


def crosses(one, other):
    (a, b), (c, d) = sorted([one, other])
    return a < c <= b < d


@given(st.data())
def test_pruning_equals_a_plain_loop(data):
    spans = candidate_spans(data.draw(st.lists(st.integers(1, 7), min_size=1, max_size=3)), 4)
    # Few different scores, so that ties are frequent.
    scores = data.draw(st.lists(st.integers(0, 3), min_size=len(spans), max_size=len(spans)))
    count = data.draw(st.integers(0, len(spans) + 2))
    kept = []
    for number in sorted(range(len(spans)), key=lambda number: -scores[number]):
        if len(kept) < count and not any(crosses(spans[number].tolist(), spans[own].tolist()) for own in kept):
            kept.append(number)
    assert keep_best(spans, torch.tensor(scores, dtype=torch.float32), count).tolist() == sorted(kept)


def test_pairs_are_the_nearest_earlier_spans():
    assert antecedent_pairs(4, 2).tolist() == [[1, 0], [2, 1], [2, 0], [3, 2], [3, 1]]
    assert antecedent_pairs(1, 2).shape == antecedent_pairs(0, 2).shape == (0, 2)


@given(st.integers(0, 7), st.integers(1, 8), st.data())
def test_the_loss_equals_that_of_the_whole_matrix(num_spans, most, data):
    torch.manual_seed(data.draw(st.integers(0, 99)))
    gold = torch.tensor(data.draw(st.lists(st.integers(-1, 2), min_size=num_spans, max_size=num_spans)))
    gold = gold.to(torch.int64)
    matrix = torch.randn(num_spans, num_spans, dtype=torch.float64)
    pairs = antecedent_pairs(num_spans, most)
    table = score_table(pairs, matrix[pairs[:, 0], pairs[:, 1]], num_spans)
    expected = 0.0
    for i in range(num_spans):
        others = range(max(0, i - most), i)
        right = [math.exp(matrix[i, j]) for j in others if gold[i] >= 0 and gold[i] == gold[j]]
        everything = 1 + sum(math.exp(matrix[i, j]) for j in others)
        expected -= math.log((sum(right) if right else 1) / everything)
    found = antecedent_loss(table, gold_table(pairs, gold, table.shape[1]))
    torch.testing.assert_close(found, torch.as_tensor(expected, dtype=torch.float64))


def test_clusters_follow_the_best_antecedents():
    table = torch.tensor(
        [
            [0.0, -torch.inf, -torch.inf],
            [0.0, -1.0, -torch.inf],
            [0.0, -1.0, 2.0],
            [0.0, 0.0, 0.0],
            [0.0, 1.0, 1.0],
            [0.0, 1.0, 3.0],
        ]
    )
    spans = [(0, 0), (1, 2), (2, 2), (4, 5), (5, 5), (7, 7)]
    assert clusters_of(spans, table) == [[(0, 0), (2, 2)], [(4, 5), (5, 5), (7, 7)]]
    assert clusters_of([], table[:0]) == []
