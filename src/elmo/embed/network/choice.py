"""Which network computes: the engine for a checkpoint, torch for a biLM in torch."""

from typing import TYPE_CHECKING, Any

from elmo.embed.network.engine_network import EngineNetwork
from elmo.embed.network.network import Network
from elmo.engine.engine import Engine
from elmo.ops.native.kinds import ComputeType
from elmo.weights.checkpoint import Checkpoint

if TYPE_CHECKING:
    from elmo.model.bilm import BiLM


def network_of(model: "BiLM | Checkpoint", dtype: ComputeType) -> Network[Any]:
    """What computes the model, with factors of products in `dtype`."""
    if isinstance(model, Checkpoint):
        return EngineNetwork(model, Engine.from_checkpoint(model, dtype))
    # Here, because whoever has a biLM has loaded torch, and nobody else must.
    from elmo.embed.network.torch_network import TorchNetwork

    return TorchNetwork(model, dtype)


def in_torch(checkpoint: Checkpoint, device: str) -> "BiLM":
    """The model in torch, on `device`, whose weights are not trained."""
    from elmo.model.bilm import BiLM

    return BiLM.from_checkpoint(checkpoint).to(device).requires_grad_(False)
