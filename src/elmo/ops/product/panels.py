"""A weight laid out for the native library: panels of 64 outputs, see native/inference/kernel.h.

For each panel and each group of factors (1 float32, 2 bfloat16 or 4 int8 of neighboring inputs) there are 64 numbers of
32 bits, one an output. int8 activations are stored as 0 to 255 with 128 for zero; `sums` is what that adds.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from elmo.ops.native.kinds import FACTORS_IN_32_BITS, ComputeType
from elmo.ops.product.quantized import quantize_weight

PANEL = 64
# Groups of factors added up before they join the sum: float32 rounds less in shorter sums; the others' are exact or
# float32 sums of coarser factors, and a panel has to stay in a core's own cache.
_CHUNKS: dict[ComputeType, int] = {"float32": 512, "bfloat16": 2048, "int8": 2048}
_ZERO = 128


class Panels(NamedTuple):
    """The laid out weight. `outer` may be padded with zeros to whole panels."""

    weights: Tensor
    """(panels, groups, 64) of 32 bits"""
    scales: Float[Tensor, " outer"] | None
    """int8: the size of each output's step"""
    sums: Int[Tensor, "chunks outer"] | None
    """int8: 128 times the sum of each output's whole numbers, chunk by chunk"""
    chunk: int


def lay_out(weight: Float[Tensor, "outer inner"], dtype: ComputeType) -> Panels:
    """The weight's panels."""
    group, chunk = FACTORS_IN_32_BITS[dtype], _CHUNKS[dtype]
    weight = functional.pad(weight.detach().float(), (0, -weight.shape[1] % group, 0, -weight.shape[0] % PANEL))
    scales = sums = None
    if dtype == "int8":
        whole, scales = quantize_weight(weight)
        scales = scales[:, 0].contiguous()
        parts = [part.sum(dim=1) for part in whole.double().split(chunk * group, dim=1)]
        sums = torch.stack(parts).mul_(_ZERO).to(torch.int32)
        factors = whole.to(torch.int8)
    else:
        factors = weight.to(getattr(torch, dtype))
    outer, inner = factors.shape
    arranged = factors.view(outer // PANEL, PANEL, inner // group, group).transpose(1, 2).contiguous()
    return Panels(arranged.view(torch.int32).flatten(2), scales, sums, chunk)
