"""Trilinear: how well two vectors fit, score(x, y) = w_x . x + w_y . y + (w_xy * x) . y + b.

That is w . [x ; y ; x * y] + b for all pairs of two sequences. The concatenation of a pair is never formed: it would
take rows x columns x 3 dim floats; two vectors and one matrix product take rows x columns.
Source: Seo et al. 2017, equation 1; initial values as in Clark and Gardner 2018.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Trilinear(nn.Module):
    """Scores of all pairs of two sequences."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.row_weight = nn.Parameter(_uniform(dim))
        self.column_weight = nn.Parameter(_uniform(dim))
        self.product_weight = nn.Parameter(_uniform(dim))
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(
        self, rows: Float[Tensor, "batch rows dim"], columns: Float[Tensor, "batch columns dim"]
    ) -> Float[Tensor, "batch rows columns"]:
        """No mask is applied: scores at padding mean nothing."""
        scores = (rows * self.product_weight) @ columns.transpose(1, 2)
        scores = scores + (rows @ self.row_weight)[:, :, None]
        return scores + (columns @ self.column_weight + self.bias)[:, None, :]


def _uniform(dim: int) -> Float[Tensor, " dim"]:
    """Glorot's bounds for a vector whose fan in and fan out are both its length."""
    limit = math.sqrt(3 / dim)
    return torch.empty(dim).uniform_(-limit, limit)
