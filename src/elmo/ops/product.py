"""inputs @ weight.T, the product that takes nearly all of the time, in torch.

`product` is that of a weight that changes from step to step, as in training. torch's plain product runs in MKL, which
has kernels for AVX-512 on Intel's processors alone: on AMD's with AVX-512, oneDNN is two to three times as fast; on
Intel's, and with AVX2, it is a tenth slower. bfloat16 factors are widened on a CPU for which oneDNN has no products of
them, with AVX2 for instance, where torch's own take thirteen times as long as those of float32.

`trained_product` has gradients, and `TrainedProducts` puts it in the place of a network's products. `RoundedProducts`
rounds the factors of a network's products to bfloat16 or int8, while everything else stays float32: a GPU multiplies
bfloat16 factors itself; all else is imitated, the factors are rounded and multiplied in their own type. On CPUs
`elmo.engine` has products of its own.

int8 factors: each output's weights, and each row of activations, in 255 steps of their own size. A row's steps depend
on that row alone, so a sentence's vectors don't depend on the other sentences in the batch.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from elmo.ops import native
from elmo.ops.native.kinds import ComputeType


def product(
    inputs: Float[Tensor, "rows inner"],
    weight: Float[Tensor, "outer inner"],
    bias: Float[Tensor, " outer"] | None = None,
) -> Float[Tensor, "rows outer"]:
    """inputs @ weight.T + bias. Has no gradient of its own.

    Both factors may be transposes of contiguous matrices; other strides are slow, or an error if memory overlaps.
    The result is of the inputs' type; the weight may come from `repeated_factor`.
    """
    if _is_widened(inputs):
        return product(inputs.float(), weight.float(), None if bias is None else bias.float()).to(inputs.dtype)
    if _is_faster_in_mkl() or not _fits(inputs, weight, bias):
        return functional.linear(inputs, weight, bias)
    return torch.ops.mkldnn._linear_pointwise(inputs, weight, bias, "none", [], "")


def repeated_factor(weight: Float[Tensor, "outer inner"], dtype: torch.dtype) -> Float[Tensor, "outer inner"]:
    """The weight rounded to `dtype`, for several products: widened here, if each of them would widen it."""
    rounded = weight.to(dtype)
    return rounded.float() if _is_widened(rounded) else rounded


def _is_widened(factor: Tensor) -> bool:
    return factor.dtype == torch.bfloat16 and factor.device.type == "cpu" and not _multiplies_bfloat16()


@functools.cache
def _multiplies_bfloat16() -> bool:
    return torch.backends.mkldnn.is_available() and bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


@functools.cache
def _is_faster_in_mkl() -> bool:
    library = native.library()
    is_intel = library is not None and library.is_intel()
    return is_intel or torch.backends.cpu.get_cpu_capability() == "AVX2"


def _fits(inputs: Float[Tensor, "rows inner"], weight: Float[Tensor, "outer inner"], bias: Tensor | None) -> bool:
    """oneDNN knows no empty factors, and reads a bias as numbers side by side, whatever its strides."""
    given = (inputs, weight) if bias is None else (inputs, weight, bias)
    plain = all(one.dtype == torch.float32 and one.device.type == "cpu" for one in given)
    has_onednn = torch.backends.mkldnn.is_available() and torch.backends.mkldnn.enabled
    lies_in_a_row = bias is None or (bias.is_contiguous() and bias.shape == weight.shape[:1])
    return plain and has_onednn and lies_in_a_row and min(*inputs.shape, *weight.shape) > 0


def trained_product(
    inputs: Float[Tensor, "*rows inner"],
    weight: Float[Tensor, "outer inner"],
    bias: Float[Tensor, " outer"] | None = None,
    product_dtype: torch.dtype | None = None,
) -> Float[Tensor, "*rows outer"]:
    """inputs @ weight.T + bias, with gradients of any order. Autocast rounds it as torch's own.

    `product_dtype=torch.bfloat16` rounds the factors of the product and of its gradients' products; the result and the
    gradients are of the inputs' own type.
    """
    device = inputs.device.type
    if torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device):
        return functional.linear(inputs, weight, bias)
    if product_dtype not in (None, inputs.dtype):
        found = trained_product(inputs.to(product_dtype), weight.to(product_dtype)).to(inputs.dtype)
        return found if bias is None else found + bias
    *rows, inner = inputs.shape
    return _product(inputs.reshape(math.prod(rows), inner), weight, bias).reshape(*rows, len(weight))


def _product(
    inputs: Float[Tensor, "rows inner"],
    weight: Float[Tensor, "outer inner"],
    bias: Float[Tensor, " outer"] | None = None,
) -> Float[Tensor, "rows outer"]:
    # Laid out here, where autograd sees it: what `_Product` saves must be what it was given.
    return _Product.apply(_laid_out(inputs), _laid_out(weight), bias)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        inputs: Float[Tensor, "rows inner"],
        weight: Float[Tensor, "outer inner"],
        bias: Float[Tensor, " outer"] | None,
    ) -> Float[Tensor, "rows outer"]:
        ctx.save_for_backward(inputs, weight)
        return product(inputs, weight, bias)

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "rows outer"]) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        inputs, weight = ctx.saved_tensors
        of_inputs, of_weight, of_bias = ctx.needs_input_grad
        return (
            _product(grad, weight.t()) if of_inputs else None,
            _product(grad.t(), inputs.t()) if of_weight else None,
            grad.sum(dim=0) if of_bias else None,
        )


def _laid_out(factor: Float[Tensor, "rows columns"]) -> Float[Tensor, "rows columns"]:
    """As oneDNN is fast with it: columns of a larger matrix and expanded rows take a thousand times as long."""
    return factor if factor.is_contiguous() or factor.t().is_contiguous() else factor.contiguous()


class TrainedProducts(TorchFunctionMode):
    """In its `with` block `functional.linear` is `trained_product`, with factors of `product_dtype`."""

    def __init__(self, product_dtype: torch.dtype | None) -> None:
        super().__init__()
        self._product_dtype = product_dtype

    def __torch_function__(
        self, func: Callable[..., Any], types: Sequence[type], args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        if func is functional.linear:
            return trained_product(*args, **(kwargs or {}), product_dtype=self._product_dtype)
        return func(*args, **(kwargs or {}))


_STEPS = 127
# A row of activations below this counts as zeros, as in the C kernels: 127 divided by it would not be a finite float32.
_TINIEST = _STEPS / torch.finfo(torch.float32).max
# The last bits of a weight's step are zero, so that 127 steps are exactly a float32: a weight that was rounded, stored
# and read again rounds to exactly the same values.
_ZERO_BITS = 0xFF


def quantize_rows(values: Float[Tensor, "rows inner"]) -> tuple[Float[Tensor, "rows inner"], Float[Tensor, "rows 1"]]:
    """Activations: each row as whole numbers from -127 to 127 (still floats), and the size of its step."""
    largest = values.abs().amax(dim=1, keepdim=True)
    steps = torch.where(largest > _TINIEST, _STEPS / largest, 0)
    return (values * steps).round_(), largest / _STEPS


def quantize_weight(
    weight: Float[Tensor, "outer inner"],
) -> tuple[Float[Tensor, "outer inner"], Float[Tensor, "outer 1"]]:
    """Weights: each row as whole numbers from -127 to 127 (still floats), and the size of its step."""
    weight = weight.float()
    steps = weight.abs().amax(dim=1, keepdim=True) / _STEPS
    bits = steps.contiguous().view(torch.int32)
    steps = ((bits + _ZERO_BITS) & ~_ZERO_BITS).view(torch.float32)  # upwards
    return torch.where(steps > 0, weight / steps, 0).round_(), steps


class RoundedProducts(TorchFunctionMode):
    """In its `with` block `functional.linear` rounds its factors to `dtype`; parameters must not change meanwhile.

    "float32" rounds nothing. Without gradients: rounding has none.
    """

    def __init__(self, dtype: ComputeType) -> None:
        super().__init__()
        self._dtype: ComputeType = dtype
        self._rounded: dict[int, tuple[Tensor, _Factor]] = {}

    def __torch_function__(
        self, func: Callable[..., Any], types: Sequence[type], args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        if func is not functional.linear or self._dtype == "float32":
            return func(*args, **(kwargs or {}))
        return self._product(*args, **(kwargs or {}))

    def _product(
        self, input: Float[Tensor, "*rows inner"], weight: Float[Tensor, "outer inner"], bias: Tensor | None = None
    ) -> Float[Tensor, "*rows outer"]:
        rows = input.flatten(0, -2) if input.dim() > 1 else input[None]
        factor, steps = self._factor(weight)
        if steps is not None:
            whole, sizes = quantize_rows(rows)
            found = functional.linear(whole, factor) * steps.t() * sizes
        else:
            found = functional.linear(rows.bfloat16().to(factor.dtype), factor).to(rows.dtype)
        found = found if bias is None else found + bias
        return found.view(*input.shape[:-1], len(weight))

    def _factor(self, weight: Float[Tensor, "outer inner"]) -> "_Factor":
        """A parameter is rounded once: the recurrent one of an LSTM is used at every step."""
        if not isinstance(weight, nn.Parameter):
            return self._rounded_weight(weight)
        if id(weight) not in self._rounded:
            self._rounded[id(weight)] = weight, self._rounded_weight(weight)
        return self._rounded[id(weight)][1]

    def _rounded_weight(self, weight: Float[Tensor, "outer inner"]) -> "_Factor":
        if self._dtype == "int8":
            return quantize_weight(weight)
        rounded = weight.bfloat16()
        return (rounded if weight.device.type == "cuda" else rounded.to(weight.dtype)), None


_Factor = tuple[Tensor, Tensor | None]
"""What is multiplied, and for int8, whose integers stay in floats here, the size of each output's step."""
