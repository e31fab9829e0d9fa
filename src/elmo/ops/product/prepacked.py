"""The product with its weight laid out once: through the native library, else through oneDNN.

Twice as fast as torch's plain product on AMD processors (dev/LOG.md), and a row's result does not depend on how many
rows stand beside it: the plain product takes another path, with other rounding, for one to three rows. So a sentence
has the very same vectors alone and in any batch. oneDNN itself takes another path for one single row, hence `_TWO`.

Where neither is at hand the plain product runs, on rounded factors if bfloat16 or int8 was asked for.
"""

from typing import get_args

import torch
from jaxtyping import Float
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from elmo.ops.native.kinds import ComputeType, native_types
from elmo.ops.product.compute_type import has_bfloat16_products
from elmo.ops.product.native_product import NativeProduct
from elmo.ops.product.quantized import quantize_rows, quantize_weight
from elmo.ops.product.reference import product_reference
from elmo.ops.product.version import weight_version
from elmo.process.thread_lock import ThreadLock

_TWO = 2


class Prepacked:
    """One weight, ready for products. It does not see later changes of the weight; `prepack` does."""

    def __init__(self, weight: Float[Tensor, "outer inner"], dtype: ComputeType = "float32") -> None:
        self._dtype = dtype
        self._native = None
        plain = weight.dtype == torch.float32
        if plain and weight.device.type == "cpu" and dtype in native_types():
            self._native = NativeProduct(weight, dtype)
            return
        self._weight, self._scales = _factors(weight.detach(), dtype)
        fits = plain and weight.device.type == "cpu" and _has_onednn(self._weight.dtype)
        self._packed = torch.ops.mkldnn._reorder_linear_weight(self._weight.contiguous(), None) if fits else None

    def __call__(
        self, inputs: Float[Tensor, "rows inner"], bias: Float[Tensor, " outer"] | None = None
    ) -> Float[Tensor, "rows outer"]:
        """inputs @ weight.T + bias"""
        if self._native is not None:
            return self._native(inputs, bias)
        factors, steps = quantize_rows(inputs) if self._scales is not None else (inputs.to(self._weight.dtype), None)
        out = self._product(factors).to(inputs.dtype)
        if steps is not None:
            out = out * self._scales * steps
        return out if bias is None else out + bias

    def _product(self, inputs: Tensor) -> Tensor:
        if self._packed is None or len(inputs) == 0:
            return product_reference(inputs, self._weight)
        if len(inputs) < _TWO:
            return self._run(inputs.expand(_TWO, -1))[: len(inputs)]
        return self._run(inputs)

    def _run(self, inputs: Tensor) -> Tensor:
        return torch.ops.mkldnn._linear_pointwise(inputs.contiguous(), self._packed, None, "none", [], "")


def _factors(weight: Tensor, dtype: ComputeType) -> tuple[Tensor, Tensor | None]:
    """What is multiplied, and for int8, whose whole numbers stay in floats here, the size of each output's step."""
    if dtype == "int8":
        whole, scales = quantize_weight(weight)
        return whole, scales[:, 0]
    if dtype == "float32":
        return weight, None
    rounded = weight.bfloat16()
    if weight.device.type == "cpu" and not has_bfloat16_products():
        return rounded.to(weight.dtype), None
    return rounded, None


def _has_onednn(dtype: torch.dtype) -> bool:
    usable = torch.backends.mkldnn.is_available() and torch.backends.mkldnn.enabled
    return usable and (dtype == torch.float32 or has_bfloat16_products())


_known: dict[ComputeType, WeakTensorKeyDictionary] = {
    dtype: WeakTensorKeyDictionary() for dtype in get_args(ComputeType)
}
_lock = ThreadLock()


def prepack(weight: Float[Tensor, "outer ..."], dtype: ComputeType = "float32") -> Prepacked:
    """The weight's `Prepacked`, made at its first use and made anew when the weight was changed or trained.

    The weight of a convolution (outer, dim, width) is taken for windows of `width` neighbors of `dim` numbers.
    Several threads may ask at once: one of them lays the weight out, the others wait for it.
    """
    version = (weight_version(weight), native_types())
    found = _known[dtype].get(weight)
    if found is not None and found[0] == version:
        return found[1]
    with _lock:
        found = _known[dtype].get(weight)
        if found is None or found[0] != version:
            found = (version, Prepacked(_flat(weight.detach()), dtype))
            _known[dtype][weight] = found
    return found[1]


def _flat(weight: Tensor) -> Tensor:
    return weight if weight.ndim == 2 else weight.transpose(1, 2).flatten(1)
