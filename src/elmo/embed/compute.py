"""What an embedder's products are computed in, and by what: chosen from what is asked and what the machine has."""

from typing import get_args

import torch

from elmo.errors import ConfigError
from elmo.ops.product import ComputeType, native_types


def chosen_type(dtype: str, device: torch.device) -> ComputeType:
    """`dtype`, or for "auto" bfloat16 where this CPU's native library or this GPU is fast in it, else float32.

    Raises ConfigError for an unknown type, and for int8 on anything but a CPU: there are no such products there.
    """
    if dtype == "auto":
        return "bfloat16" if _is_fast_in_bfloat16(device) else "float32"
    if dtype == "int8" and device.type != "cpu":
        raise ConfigError(
            f"dtype is 'int8', but the device is {str(device)!r}, which would only imitate it in float32, more slowly "
            "than float32 itself. Use bfloat16 (or auto) there, or a CPU (device='cpu', --device cpu) for int8."
        )
    if dtype not in get_args(ComputeType):
        raise ConfigError(
            f"dtype is {dtype!r}, but products are computed in: {', '.join(get_args(ComputeType))}; or auto, which "
            "takes the fastest that changes next to nothing. Choose one of them."
        )
    return dtype  # type: ignore[return-value]


def _is_fast_in_bfloat16(device: torch.device) -> bool:
    if device.type == "cpu":
        return "bfloat16" in native_types()
    # From Ampere (8.0) on, NVIDIA's GPUs have units for it.
    return device.type == "cuda" and torch.cuda.get_device_capability(device) >= (8, 0)


def products_by(dtype: ComputeType, device: torch.device) -> str:
    """What computes products of these factors: "native", or "torch" where the library or its instructions are missing.

    torch's int8 products are those of whole numbers in float32: as exact, but no faster than float32.
    """
    return "native" if device.type == "cpu" and dtype in native_types() else "torch"
