"""Products of a network in torch whose factors are rounded to bfloat16 or int8, while everything else stays float32.

A GPU multiplies bfloat16 factors itself; all else is imitated: the factors are rounded and multiplied in their own
type. On CPUs `elmo.engine` has products of its own.
"""

from collections.abc import Callable, Sequence
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from elmo.ops.native.kinds import ComputeType
from elmo.ops.product.quantized import quantize_rows, quantize_weight


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
