"""Trilinear scores equal one weight vector on the concatenation of each pair."""

import torch

from elmo.tasks.layers.trilinear.scores import Trilinear


def plain_scores(layer, rows, columns):
    """w . [x ; y ; x * y] + b, with all concatenations formed."""
    weight = torch.cat([layer.row_weight, layer.column_weight, layer.product_weight])
    left = rows[:, :, None].expand(-1, -1, columns.shape[1], -1)
    right = columns[:, None].expand(-1, rows.shape[1], -1, -1)
    return torch.cat([left, right, left * right], dim=3) @ weight + layer.bias


def test_scores_and_gradients_equal_those_of_the_concatenation():
    torch.manual_seed(0)
    layer = Trilinear(5).double()
    layer.bias.data.fill_(0.3)
    rows, columns = (torch.randn(2, length, 5, dtype=torch.float64, requires_grad=True) for length in (4, 3))
    upstream = torch.randn(2, 4, 3, dtype=torch.float64)
    asked = [rows, columns, *layer.parameters()]
    fast, plain = layer(rows, columns), plain_scores(layer, rows, columns)
    torch.testing.assert_close(fast, plain)
    for one, other in zip(
        torch.autograd.grad(fast, asked, upstream), torch.autograd.grad(plain, asked, upstream), strict=True
    ):
        torch.testing.assert_close(one, other)
