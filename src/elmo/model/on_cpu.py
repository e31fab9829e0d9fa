"""The engine on the memory of torch modules: what runs on a CPU where no gradient is needed.

Weights are laid out at their first use, and again when they were changed or trained (`weight_version`). Several threads
may ask at once: one of them lays the weights out, the others wait for it.
"""

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from elmo.config import BiLMConfig
from elmo.engine import tier
from elmo.engine.network_weights import LayerWeights, LSTMSettings
from elmo.engine.side_by_side import Stack
from elmo.engine.token_encoder import TokenEncoder
from elmo.ops.native.kinds import ComputeType, native_types
from elmo.ops.product.version import weight_version
from elmo.process.thread_lock import ThreadLock

_known: WeakKeyDictionary[nn.Module, dict[object, tuple[object, Any]]] = WeakKeyDictionary()
_lock = ThreadLock()


def runs_on_engine(module: nn.Module, *inputs: Tensor) -> bool:
    """Whether the engine computes this module: float32 on a CPU, no gradient, and nobody traces the operations."""
    if torch.is_grad_enabled() or torch.compiler.is_compiling() or torch.jit.is_tracing():
        return False
    tensors = (*module.parameters(), *inputs)
    return all(tensor.device.type == "cpu" and tensor.dtype == torch.float32 for tensor in tensors)


def stack_of(
    lstm: nn.Module, settings: LSTMSettings, dtype: ComputeType, skips: list[bool], *, backward: bool
) -> Stack:
    """The layers of a `ProjectedLSTM`, laid out."""

    def make() -> list[Any]:
        return [tier.layer(_in_numpy(layer), settings, dtype) for layer in lstm.layers]  # type: ignore[union-attr]

    return Stack(_remembered(lstm, (dtype, settings), make), skips, backward)


def encoder_of(encoder: nn.Module, config: BiLMConfig, dtype: ComputeType) -> TokenEncoder:
    """A `TokenEncoder` of `elmo.model`, laid out."""

    def make() -> TokenEncoder:
        tensors = {f"token_encoder.{name}": array(tensor) for name, tensor in encoder.named_parameters()}
        return TokenEncoder(config, tensors, dtype)

    return _remembered(encoder, dtype, make)


def array(tensor: Tensor) -> Any:
    """A tensor's own memory as a numpy array."""
    return tensor.detach().numpy()


def _in_numpy(layer: Any) -> LayerWeights:
    return LayerWeights(*(None if weight is None else array(weight) for weight in layer.weights))


def _remembered(module: nn.Module, key: object, make: Callable[[], Any]) -> Any:
    """What was made of a module's weights as they are now."""
    version = ([weight_version(tensor) for tensor in module.parameters()], native_types())
    found = _known.get(module, {}).get(key)
    if found is not None and found[0] == version:
        return found[1]
    with _lock:
        made = _known.setdefault(module, {})
        found = made.get(key)
        if found is None or found[0] != version:
            found = made[key] = (version, make())
    return found[1]
