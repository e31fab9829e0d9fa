"""What the factors of matrix products are rounded to; everything between the products stays float32."""

from typing import Literal

import torch

ComputeType = Literal["float32", "bfloat16", "int8"]

FACTORS_IN_32_BITS: dict[ComputeType, int] = {"float32": 1, "bfloat16": 2, "int8": 4}


def has_bfloat16_products() -> bool:
    """Whether oneDNN has products of bfloat16 factors on this processor."""
    return torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported()
