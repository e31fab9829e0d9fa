"""The product with a weight that stays: its factors are rounded once, to bfloat16 or int8 if that was asked for.

For GPUs, and wherever torch computes without gradients. A GPU multiplies bfloat16 factors itself; all else is imitated:
the factors are rounded and multiplied in the weight's own type. On CPUs `elmo.engine` has products of its own.
"""

from typing import get_args

from jaxtyping import Float
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from elmo.ops.native.kinds import ComputeType
from elmo.ops.product.quantized import quantize_rows, quantize_weight
from elmo.ops.product.reference import product_reference
from elmo.ops.product.version import weight_version
from elmo.process.thread_lock import ThreadLock


class Prepacked:
    """One weight, ready for products. It does not see later changes of the weight; `prepack` does."""

    def __init__(self, weight: Float[Tensor, "outer inner"], dtype: ComputeType = "float32") -> None:
        self._weight, self._scales = _factors(weight.detach(), dtype)
        self._is_rounded = dtype == "bfloat16"

    def __call__(
        self, inputs: Float[Tensor, "rows inner"], bias: Float[Tensor, " outer"] | None = None
    ) -> Float[Tensor, "rows outer"]:
        """inputs @ weight.T + bias"""
        factors, sizes = inputs, None  # of the steps that integers stand for
        if self._scales is not None:
            factors, steps = quantize_rows(inputs)
            sizes = self._scales, steps
        if self._is_rounded:
            factors = factors.bfloat16().to(self._weight.dtype)
        out = product_reference(factors, self._weight).to(inputs.dtype)
        if sizes is not None:
            out = out * sizes[0] * sizes[1]
        return out if bias is None else out + bias


def _factors(
    weight: Float[Tensor, "outer inner"], dtype: ComputeType
) -> tuple[Float[Tensor, "outer inner"], Float[Tensor, " outer"] | None]:
    """What is multiplied, and for int8, whose integers stay in floats here, the size of each output's step."""
    if dtype == "int8":
        whole, scales = quantize_weight(weight)
        return whole, scales[:, 0]
    if dtype == "float32":
        return weight, None
    rounded = weight.bfloat16()
    return (rounded if weight.device.type == "cuda" else rounded.to(weight.dtype)), None


_known: dict[ComputeType, WeakTensorKeyDictionary] = {
    dtype: WeakTensorKeyDictionary() for dtype in get_args(ComputeType)
}
_lock = ThreadLock()


def prepack(weight: Float[Tensor, "outer ..."], dtype: ComputeType = "float32") -> Prepacked:
    """The weight's `Prepacked`, made at its first use and made anew when the weight was changed or trained.

    The weight of a convolution (outer, dim, width) is taken for windows of `width` neighbors of `dim` values.
    Several threads may ask at once: one of them lays the weight out, the others wait for it.
    """
    version = weight_version(weight)
    found = _known[dtype].get(weight)
    if found is not None and found[0] == version:
        return found[1]
    with _lock.mutex:
        found = _known[dtype].get(weight)
        if found is None or found[0] != version:
            found = (version, Prepacked(_flat(weight.detach()), dtype))
            _known[dtype][weight] = found
    return found[1]


def _flat(weight: Float[Tensor, "outer ..."]) -> Float[Tensor, "outer inner"]:
    return weight if weight.ndim == 2 else weight.transpose(1, 2).flatten(1)
