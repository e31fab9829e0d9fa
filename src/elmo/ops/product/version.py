"""Whether weights are still what they were when they were laid out."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

_SAMPLE = 256


def weight_version(weight: Float[Tensor, "..."]) -> tuple[object, ...]:
    """Differs when the weight was changed in place, moved or trained.

    Most changes are counted by torch. Its fused optimizers and whatever is written through `weight.data` or numpy
    change weights without counting, and tensors of inference mode have no count. So some numbers spread over the whole
    are part of the version: a step of training, a moving average or a copy changes all. Of a weight on a GPU that isn't
    trained they are left out, because reading them would wait for the device.
    """
    count = None if weight.is_inference() else weight._version
    known: tuple[object, ...] = (count, weight.data_ptr(), weight.dtype, weight.device)
    if weight.device.type != "cpu" and not weight.requires_grad and count is not None:
        return known
    flat = weight.detach().reshape(-1)
    sample = flat[:: max(1, len(flat) // _SAMPLE)].cpu()
    return (*known, sample.numpy().tobytes() if sample.dtype == torch.float32 else tuple(sample.tolist()))


def module_version(module: nn.Module) -> list[tuple[object, ...]]:
    """Differs when a weight of the module was changed."""
    return [weight_version(weight) for weight in module.parameters()]
