"""Which network computes a model: the engine or torch, on which device, with factors of which type."""

from typing import TYPE_CHECKING, Any, Literal

from elmo.embed.network import EngineNetwork, Network
from elmo.engine.engine import Engine
from elmo.errors import ConfigError
from elmo.ops import native
from elmo.ops.native.kinds import ComputeType
from elmo.setting_checks import require_value
from elmo.weights.checkpoint import Checkpoint

if TYPE_CHECKING:
    from elmo.model.bilm import BiLM


def network_of(model: "BiLM | Checkpoint", dtype: ComputeType) -> Network[Any]:
    """What computes the model, with factors of products in `dtype`."""
    if isinstance(model, Checkpoint):
        return EngineNetwork(model, Engine.from_checkpoint(model, dtype))
    # Here, because whoever has a biLM has loaded torch, and nobody else must.
    from elmo.embed.torch_network import TorchNetwork

    return TorchNetwork(model, dtype)


def in_torch(checkpoint: Checkpoint, device: str) -> "BiLM":
    """The model in torch, on `device`, whose weights are not trained."""
    from elmo.model.bilm import BiLM

    return BiLM.from_checkpoint(checkpoint).to(device).requires_grad_(False)


def chosen_type(dtype: str, device: str) -> ComputeType:
    """`dtype`, or for "auto" bfloat16 where this CPU's native library or this GPU is fast in it, else float32.

    Raises ConfigError for an unknown type, and for int8 on anything but a CPU: there are no such products there.
    """
    require_value("dtype", dtype, ComputeType | Literal["auto"])
    if dtype == "auto":
        return "bfloat16" if _is_fast_in_bfloat16(device) else "float32"
    if dtype == "int8" and device != "cpu":
        raise ConfigError(
            f"dtype is 'int8', but the device is {device!r}, which would only imitate it in float32, more slowly "
            "than float32 itself. Use bfloat16 (or auto) there, or a CPU (device='cpu', --device cpu) for int8."
        )
    return dtype  # type: ignore[return-value]


def _is_fast_in_bfloat16(device: str) -> bool:
    if device == "cpu":
        library = native.library()
        return library is not None and library.multiplies_bfloat16()
    if not device.startswith("cuda"):
        return False
    import torch

    # From Ampere (8.0) on, NVIDIA's GPUs have units for it.
    return torch.cuda.get_device_capability(device) >= (8, 0)
