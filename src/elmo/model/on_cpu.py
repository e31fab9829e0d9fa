"""The engine on the memory of torch modules: what runs on a CPU where no gradient is needed.

Weights are laid out at their first use, and again when they were changed or trained (`module_version`). Several threads
may ask at once: one of them lays the weights out, the others wait for it.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from elmo.engine import tier
from elmo.engine.network_weights import LayerWeights, LSTMSettings
from elmo.engine.side_by_side import Stack
from elmo.engine.token_encoder import TokenEncoder
from elmo.model.linear import is_plain
from elmo.ops.native.kinds import ComputeType, native_types
from elmo.ops.product.version import module_version
from elmo.process.thread_lock import ThreadLock

if TYPE_CHECKING:
    from elmo.model.projected_lstm import ProjectedLSTM, ProjectedLSTMLayer
    from elmo.model.token_encoder import TokenEncoder as TorchEncoder

_known: WeakKeyDictionary[nn.Module, dict[ComputeType, tuple[object, Any]]] = WeakKeyDictionary()
_lock = ThreadLock()


def runs_on_engine(module: nn.Module, *inputs: Float[Tensor, "..."]) -> bool:
    """Whether the engine computes this module: float32 on a CPU, no gradient, nobody traces the operations, and no part
    was replaced since it was built, by a quantized, pruned or parametrized one for instance."""
    if torch.is_grad_enabled() or torch.compiler.is_compiling() or torch.jit.is_tracing():  # pyright: ignore[reportPrivateImportUsage]
        return False
    if not all(map(_is_as_built, module.children())):
        return False
    tensors = (*module.parameters(), *inputs)
    return all(tensor.device.type == "cpu" and tensor.dtype == torch.float32 for tensor in tensors)


def _is_as_built(part: nn.Module) -> bool:
    is_ours = type(part) is nn.ModuleList or type(part).__module__.startswith("elmo.model.") or is_plain(part)
    return is_ours and all(map(_is_as_built, part.children()))


def stack_of(lstm: "ProjectedLSTM", dtype: ComputeType, *, backward: bool) -> Stack:
    """The layers of one direction, laid out."""

    def make() -> list[Any]:
        layers = cast("list[ProjectedLSTMLayer]", list(lstm.layers))
        return [tier.layer(_in_numpy(layer), LSTMSettings(*lstm.settings), dtype) for layer in layers]

    skips = [lstm.skips(index) for index in range(len(lstm.layers))]
    return Stack(_remembered(lstm, dtype, make), skips, backward)


def encoder_of(encoder: "TorchEncoder", dtype: ComputeType) -> TokenEncoder:
    """A `TokenEncoder` of `elmo.model`, laid out."""

    def make() -> TokenEncoder:
        tensors = {f"token_encoder.{name}": array(tensor) for name, tensor in encoder.named_parameters()}
        return TokenEncoder(encoder.config, tensors, dtype)

    return _remembered(encoder, dtype, make)


def array(tensor: Float[Tensor, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """A tensor's own memory as a numpy array."""
    return tensor.detach().numpy()


def _in_numpy(layer: "ProjectedLSTMLayer") -> LayerWeights:
    weights = layer.weights
    projection = None if weights.projection_weight is None else array(weights.projection_weight)
    return LayerWeights(array(weights.input_weight), array(weights.recurrent_weight), array(weights.bias), projection)


def _remembered(module: nn.Module, dtype: ComputeType, make: Callable[[], Any]) -> Any:
    """What was made of a module's weights and settings as they are now."""
    weights = module_version(module)
    version = (weights, getattr(module, "settings", None), native_types())
    found = _known.get(module, {}).get(dtype)
    if found is not None and found[0] == version:
        return found[1]
    with _lock.mutex:
        made = _known.setdefault(module, {})
        found = made.get(dtype)
        if found is None or found[0] != version:
            found = made[dtype] = (version, make())
    return found[1]
