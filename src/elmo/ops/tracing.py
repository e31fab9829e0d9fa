"""Whether the values of a tensor can be looked at now."""

import torch
from torch import Tensor, nn


def has_values(tensor: Tensor) -> bool:
    """False for a tensor that represents others: under `torch.compile`, `torch.export`, `torch.jit.trace` or a
    transform of `torch.func`, and for meta and fake tensors. What depends on values must then be left out."""
    return (
        type(tensor) in (Tensor, nn.Parameter)
        and tensor.device.type != "meta"
        and not torch.compiler.is_compiling()
        and not torch.jit.is_tracing()  # pyright: ignore[reportPrivateImportUsage]
        and not torch._C._are_functorch_transforms_active()
    )
