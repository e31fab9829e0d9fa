"""A window on a GPU: each gate pass in one kernel, and the whole window in one launch.

Step by step, a window of 20 tokens is some thousand small kernels for each layer, and each takes longer to launch than
to run. `ran` runs a pass as one Triton kernel. `WindowGraphs` records a layer's window, forward and back, as CUDA
graphs and replays them. Values and gradients are those of the passes in torch (tests/gpu).
"""

import functools
import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from elmo.config import LSTMSettings
from elmo.ops import native_passes
from elmo.ops.native.arguments import addresses_of
from elmo.ops.native.library import PASSES
from elmo.ops.projected_lstm.reference import LayerWeights


def ran(name: str, tensors: Sequence[Tensor], clip: float | None) -> bool:
    """Runs a pass of the gates as a Triton kernel, checked as `native_passes.ran` does; False: torch must compute."""
    device = tensors[0].device
    if device.type != "cuda" or any(tensor.device != device or not tensor.is_contiguous() for tensor in tensors):
        return False
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
        return False
    version = PASSES[name].get(native_passes.types_of(tensors))
    kernels = _kernels()
    if version is None or kernels is None:
        return False
    sizes: dict[str, int] = {}
    addresses_of(version.name, version.arguments, tensors, sizes, native_passes.described)
    if min(sizes.values()) > 0:
        with torch.cuda.device(device):
            getattr(kernels, name)(tensors, clip, **sizes)
    return True


@functools.cache
def _kernels() -> ModuleType | None:
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


Window = Callable[..., tuple[Tensor, Tensor, Tensor]]


class WindowGraphs:
    """`projected_lstm_window` for layers that read windows of the same shape again and again.

    The first window of a layer is recorded and every later one replayed, so a layer's weights must stay where they are
    in memory. What a window gives is overwritten by the layer's next one: take its gradient before that.
    """

    def __init__(self, window: Window) -> None:
        self._window = window
        self._recorded: dict[Any, Window] = {}

    def __call__(
        self,
        inputs: Float[Tensor, "tokens batch dim"],
        hidden: Float[Tensor, "batch projection"],
        cell: Float[Tensor, "batch cell"],
        weights: LayerWeights,
        settings: LSTMSettings,
        keep: Float[Tensor, "tokens batch"] | None = None,
        product_dtype: torch.dtype | None = None,
    ) -> tuple[
        Float[Tensor, "tokens batch projection"], Float[Tensor, "batch projection"], Float[Tensor, "batch cell"]
    ]:
        """As `projected_lstm_window`."""
        read = (inputs, hidden, cell) if keep is None else (inputs, hidden, cell, keep)
        trained = tuple(weight for weight in weights if weight is not None)
        places = tuple((weight.data_ptr(), weight.shape) for weight in trained)
        key = places, inputs.shape, keep is None, settings, product_dtype
        if key not in self._recorded:

            def window(*tensors: Tensor) -> tuple[Tensor, Tensor, Tensor]:
                inputs, hidden, cell, *others = tensors[: len(read)]
                own = LayerWeights(*tensors[len(read) :], *[None] * (weights.projection_weight is None))
                return self._window(inputs, hidden, cell, own, settings, *(others or [None]), product_dtype)

            # Apart from the parameters, whose gradients would be accumulated in the stream that records.
            samples = [tensor.detach().clone().requires_grad_(tensor.requires_grad) for tensor in read]
            samples += [weight.detach().requires_grad_() for weight in trained]
            with warnings.catch_warnings():
                # torch 2.11: it keeps the tries it makes before it records; the parameters themselves aren't in them.
                warnings.filterwarnings("ignore", "The AccumulateGrad node's stream")
                self._recorded[key] = torch.cuda.make_graphed_callables(window, tuple(samples))  # type: ignore[assignment]
        outputs, hidden, cell = self._recorded[key](*read, *trained)
        return outputs, hidden.detach(), cell.detach()
