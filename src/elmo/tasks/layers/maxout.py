"""Maxout: the largest of a few linear functions, for each number of the result. Source: Goodfellow et al. 2013."""

from jaxtyping import Float
from torch import Tensor, nn

from elmo.tasks.layers.linear import linear


class Maxout(nn.Module):
    """result[i] = max over pieces j of (weight[i, j] . vector + bias[i, j])"""

    def __init__(self, input_dim: int, output_dim: int, pieces: int) -> None:
        super().__init__()
        self.pieces = pieces
        self.linear = linear(input_dim, output_dim * pieces)

    def forward(self, vectors: Float[Tensor, "*batch input_dim"]) -> Float[Tensor, "*batch output_dim"]:
        """Any number of vectors."""
        return self.linear(vectors).unflatten(-1, (-1, self.pieces)).amax(dim=-1)
