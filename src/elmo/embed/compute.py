"""What an embedder's products are computed in, and by what: chosen from what is asked and what the machine has."""

from typing import TYPE_CHECKING, get_args

from elmo.errors import ConfigError
from elmo.ops.native.kinds import ComputeType, native_types

if TYPE_CHECKING:
    import torch


def chosen_type(dtype: str, device: "str | torch.device") -> ComputeType:
    """`dtype`, or for "auto" bfloat16 where this CPU's native library or this GPU is fast in it, else float32.

    Raises ConfigError for an unknown type, and for int8 on anything but a CPU: there are no such products there.
    """
    device = str(device)
    if dtype == "auto":
        return "bfloat16" if _is_fast_in_bfloat16(device) else "float32"
    if dtype == "int8" and device != "cpu":
        raise ConfigError(
            f"dtype is 'int8', but the device is {device!r}, which would only imitate it in float32, more slowly "
            "than float32 itself. Use bfloat16 (or auto) there, or a CPU (device='cpu', --device cpu) for int8."
        )
    if dtype not in get_args(ComputeType):
        raise ConfigError(
            f"dtype is {dtype!r}, but products are computed in: {', '.join(get_args(ComputeType))}; or auto, which "
            "takes the fastest that changes next to nothing. Choose one of them."
        )
    return dtype  # type: ignore[return-value]


def _is_fast_in_bfloat16(device: str) -> bool:
    if device == "cpu":
        return "bfloat16" in native_types()
    if not device.startswith("cuda"):
        return False
    import torch

    # From Ampere (8.0) on, NVIDIA's GPUs have units for it.
    return torch.cuda.get_device_capability(device) >= (8, 0)
