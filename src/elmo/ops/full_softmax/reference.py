"""The full softmax, plainly."""

from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional


def full_softmax_reference(
    outputs: Float[Tensor, "targets dim"],
    target_ids: Int[Tensor, " targets"],
    weight: Float[Tensor, "vocabulary dim"],
    bias: Float[Tensor, " vocabulary"],
) -> Float[Tensor, " targets"]:
    """The loss in nats of each target against every word of the vocabulary."""
    return functional.cross_entropy(functional.linear(outputs, weight, bias), target_ids, reduction="none")
