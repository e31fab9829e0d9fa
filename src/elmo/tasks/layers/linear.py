"""Linear layers as the models of the tasks have them."""

from jaxtyping import Float
from torch import Tensor, nn

from elmo.ops.product import trained_product


class Linear(nn.Linear):
    """torch's, with the faster product."""

    def forward(self, input: Float[Tensor, "*rows input_dim"]) -> Float[Tensor, "*rows output_dim"]:
        """Of the last axis."""
        return trained_product(input, self.weight, self.bias)


def linear(input_dim: int, output_dim: int) -> Linear:
    """With Glorot's uniform weights and zero biases."""
    layer = Linear(input_dim, output_dim)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


class Maxout(nn.Module):
    """result[i] = max over pieces j of (weight[i, j] . vector + bias[i, j]). Source: Goodfellow et al. 2013."""

    def __init__(self, input_dim: int, output_dim: int, pieces: int) -> None:
        super().__init__()
        self.pieces = pieces
        self.linear = linear(input_dim, output_dim * pieces)

    def forward(self, vectors: Float[Tensor, "*batch input_dim"]) -> Float[Tensor, "*batch output_dim"]:
        """Any number of vectors."""
        return self.linear(vectors).unflatten(-1, (-1, self.pieces)).amax(dim=-1)
