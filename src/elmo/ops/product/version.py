"""Whether a weight is still what it was when it was laid out."""

from jaxtyping import Float
from torch import Tensor

_SAMPLE = 256


def weight_version(weight: Float[Tensor, "..."]) -> tuple[object, ...]:
    """Differs when the weight was changed in place, moved or trained.

    Most changes are counted by torch. Its fused optimizers change weights without counting, and tensors of inference
    mode have no count; of such weights some numbers spread over the whole are part of the version: a step of training
    changes all.
    """
    count = None if weight.is_inference() else weight._version
    known: tuple[object, ...] = (count, weight.data_ptr(), weight.dtype, weight.device)
    if not weight.requires_grad and count is not None:
        return known
    flat = weight.detach().reshape(-1)
    return (*known, *flat[:: max(1, len(flat) // _SAMPLE)].tolist())
