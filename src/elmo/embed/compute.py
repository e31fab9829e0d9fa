"""What an embedder's products are computed in, and by what: chosen from what is asked and what the machine has."""

from typing import get_args

import torch

from elmo.errors import ConfigError
from elmo.ops.product import ComputeType, native_types


def chosen_type(dtype: str, device: torch.device) -> ComputeType:
    """`dtype`, or for "auto" bfloat16 where the native library has it, else float32."""
    if dtype == "auto":
        return "bfloat16" if device.type == "cpu" and "bfloat16" in native_types() else "float32"
    if dtype not in get_args(ComputeType):
        raise ConfigError(
            f"dtype is {dtype!r}, but products are computed in: {', '.join(get_args(ComputeType))}; or auto, which "
            "takes the fastest that changes next to nothing. Choose one of them."
        )
    return dtype  # type: ignore[return-value]


def products_by(dtype: ComputeType, device: torch.device) -> str:
    """What computes products of these factors: "native", or "torch" where the library or its instructions are missing.

    torch's int8 products are those of whole numbers in float32: as exact, but no faster than float32.
    """
    return "native" if device.type == "cpu" and dtype in native_types() else "torch"
