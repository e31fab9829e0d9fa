"""Comparisons and pooling by hand; the golden values are tested with the whole network in tests/tasks/snli."""

import torch

from elmo.tasks.layers.local_inference import compare, mean_and_max


def test_a_token_is_compared_with_the_weighted_mean_of_the_other_sentence():
    torch.manual_seed(0)
    own, other = torch.randn(2, 3, 4), torch.randn(2, 5, 4)
    mask = torch.tensor([[True] * 5, [True, True, False, False, False]])
    found = compare(own, other.masked_fill(~mask[:, :, None], 1e4), mask)
    for row, length in enumerate((5, 2)):
        weights = torch.softmax(own[row] @ other[row, :length].T, dim=1)
        aligned = weights @ other[row, :length]
        expected = torch.cat([own[row], aligned, own[row] - aligned, own[row] * aligned], dim=1)
        torch.testing.assert_close(found[row], expected)


def test_nothing_to_compare_with_is_zeros():
    own = torch.ones(1, 2, 3)
    for other, mask in ((torch.ones(1, 2, 3), torch.zeros(1, 2, dtype=torch.bool)),
                        (torch.ones(1, 0, 3), torch.ones(1, 0, dtype=torch.bool))):  # fmt: skip
        assert compare(own, other, mask).tolist() == [[[1.0] * 3 + [0.0] * 3 + [1.0] * 3 + [0.0] * 3] * 2]


def test_pooling_ignores_padding():
    vectors = torch.tensor([[[-1.0, 2.0], [-3.0, 4.0], [9.0, 9.0]], [[5.0, 5.0]] * 3])
    mask = torch.tensor([[True, True, False], [False] * 3])
    assert mean_and_max(vectors, mask).tolist() == [[-2.0, 3.0, -1.0, 4.0], [0.0] * 4]
    assert mean_and_max(vectors[:, :0], mask[:, :0]).tolist() == [[0.0] * 4] * 2
