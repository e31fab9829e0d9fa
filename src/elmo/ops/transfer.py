"""Tensors from the CPU to a device."""

import torch
from jaxtyping import Shaped
from torch import Tensor


def on_device(host: Shaped[Tensor, "*shape"], device: torch.device) -> Shaped[Tensor, "*shape"]:
    """A tensor of the CPU on `device`, without waiting for what the device still has to do."""
    return host.to(device, non_blocking=True)
