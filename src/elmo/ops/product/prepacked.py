"""The product with its weight laid out once for oneDNN.

Twice as fast as torch's plain product on AMD processors (dev/LOG.md), and a row's result does not depend on how many
rows stand beside it: the plain product takes another path, with other rounding, for one to three rows. So a sentence
has the very same vectors alone and in any batch. oneDNN itself takes another path for one single row, hence `_TWO`.

Where oneDNN, float32 or a CPU isn't at hand the plain product runs.
"""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from elmo.ops.product.reference import product_reference

_TWO = 2


class Prepacked:
    """One weight, ready for products. It does not see later changes of the weight; `prepack` does."""

    def __init__(self, weight: Float[Tensor, "outer inner"]) -> None:
        self._weight = weight.detach()
        fits = (
            weight.device.type == "cpu"
            and weight.dtype == torch.float32
            and torch.backends.mkldnn.is_available()
            and torch.backends.mkldnn.enabled
        )
        self._packed = torch.ops.mkldnn._reorder_linear_weight(self._weight.contiguous(), None) if fits else None

    def __call__(self, inputs: Float[Tensor, "rows inner"]) -> Float[Tensor, "rows outer"]:
        """inputs @ weight.T"""
        if self._packed is None or len(inputs) == 0:
            return product_reference(inputs, self._weight)
        if len(inputs) < _TWO:
            return self._run(inputs.expand(_TWO, -1))[: len(inputs)]
        return self._run(inputs)

    def _run(self, inputs: Tensor) -> Tensor:
        return torch.ops.mkldnn._linear_pointwise(inputs.contiguous(), self._packed, None, "none", [], "")


_known: WeakTensorKeyDictionary = WeakTensorKeyDictionary()


def prepack(weight: Float[Tensor, "outer inner"]) -> Prepacked:
    """The weight's `Prepacked`, made at its first use and made anew when the weight was changed in place.

    A weight that may still be trained is packed at every call: torch's fused optimizers change it without telling.
    """
    if weight.requires_grad or weight.is_inference():  # such tensors don't say when they change
        return Prepacked(weight)
    version = (weight._version, weight.data_ptr())
    known = _known.get(weight)
    if known is None or known[0] != version:
        known = (version, Prepacked(weight))
        _known[weight] = known
    return known[1]
