"""Calls of the kernels for a GPU in `gate_kernels`: what `native_passes` is for the library's passes on a CPU."""

import functools
import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from types import ModuleType

import torch
from torch import Tensor

from elmo.ops import native_passes
from elmo.ops.native.arguments import addresses_of
from elmo.ops.native.library import PASSES


def ran(name: str, tensors: Sequence[Tensor], clip: float | None) -> bool:
    """Runs a pass of the gates as a Triton kernel, checked as `native_passes.ran` does; False: torch must compute."""
    device = tensors[0].device
    if device.type != "cuda" or any(tensor.device != device or not tensor.is_contiguous() for tensor in tensors):
        return False
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
        return False
    version = PASSES[name].get(native_passes.types_of(tensors))
    found = kernels()
    if version is None or found is None:
        return False
    sizes: dict[str, int] = {}
    addresses_of(version.name, version.arguments, tensors, sizes, native_passes.described)
    if min(sizes.values()) > 0:
        with torch.cuda.device(device):
            getattr(found, name)(tensors, clip, **sizes)
    return True


@functools.cache
def kernels() -> ModuleType | None:
    """The kernels, if there is a Triton that works."""
    if find_spec("triton") is None:
        return None
    try:
        from elmo.ops.projected_lstm import gate_kernels

        tried = [torch.zeros(1, size, device="cuda") for size in (4, 4, 4, 1, 4, 1, 1, 1)]
        gate_kernels.gates_forward([*tried[:2], tried[2][0], *tried[3:]], 1.0, rows=1, size=1)
    except Exception as error:  # of Triton, its compiler, or the C compiler that it calls
        warnings.warn(
            f"Triton can't compile here ({(str(error).splitlines() or [type(error).__name__])[0][:200]}), so the gates "
            "of an LSTM take a dozen kernels instead of one: the same vectors, more slowly. Triton needs a C compiler.",
            stacklevel=2,
        )
        return None
    return gate_kernels
