"""Network: what an Embedder needs of a model, wherever it computes, and the engine, which computes without torch.

Token vectors and layers are arrays of the network's own kind, numpy's or torch's on its device; both are indexed alike.
States are numpy arrays for both: they are small. `torch_network` has the other one.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar, get_args

import numpy as np

from elmo.config import BiLMConfig
from elmo.engine.engine import Engine, State
from elmo.errors import ConfigError
from elmo.layer_choice import LayerChoice
from elmo.ops import native
from elmo.ops.native.kinds import ComputeType
from elmo.shapes import Float, Int
from elmo.text.batches import Batch
from elmo.text.token_map import TokenMap
from elmo.weights.checkpoint import Checkpoint, content_hash

if TYPE_CHECKING:
    from elmo.model.bilm import BiLM

Array = TypeVar("Array")


class Contextualized(NamedTuple, Generic[Array]):
    """What a model makes of a batch."""

    layers: Array
    """(layers, positions, dim)"""
    starts: Int[np.ndarray, " batch"]
    """The position of each row's first token; the others follow it."""
    state: State | None
    """After each row's last token, if it was asked for."""


class Network(Protocol[Array]):
    """One model with factors of one type."""

    dtype: ComputeType
    pads: bool
    """Whether it takes memory and time for the padding of a batch."""
    batches_ahead: int
    """Batches to begin before the vectors of one are waited for."""
    config: BiLMConfig
    token_map: TokenMap
    """Tokens -> the ids that the model reads."""

    @property
    def checkpoint(self) -> Checkpoint:
        """The model without its softmax, float32. Each access to it or its tensors may make them anew."""
        ...

    @property
    def device(self) -> str:
        """The name of the device it computes on, as torch has it: "cpu", "cuda:0"."""
        ...

    @property
    def products(self) -> str:
        """What computes its products: "native", "numpy" or "torch"."""
        ...

    def now(self) -> "Network[Any]":
        """What computes one call: a network whose weights don't change meanwhile, where that is possible.

        Raises ConfigError if an Embedder can't compute from the weights any longer.
        """
        ...

    def model_hash(self) -> str:
        """`content_hash` of the weights as they are now."""
        ...

    def token_weights(self) -> object:
        """Something that differs when the weights of the token encoder were changed or moved."""
        ...

    def empty(self, count: int) -> Array:
        """Room for as many token vectors: (count, projection) without values."""
        ...

    def encode(self, tokens: Sequence[str]) -> Array:
        """(tokens, projection): each vector depends, to the last bit, on its token alone."""
        ...

    def read(self, batch: Batch, table: Array, state: State | None, *, keeps_state: bool) -> Contextualized[Array]:
        """All layers and, if it is kept, the new state, from the vectors `table` of the batch's distinct tokens."""
        ...

    def chosen(self, layers: Array, choice: LayerChoice) -> Callable[[], Float[np.ndarray, "*layers positions dim"]]:
        """Begins to bring the chosen layers into numpy; what is returned waits for them."""
        ...


class EngineNetwork(Network[np.ndarray]):
    """A checkpoint and its engine."""

    pads, batches_ahead = False, 0

    def __init__(self, checkpoint: Checkpoint, engine: Engine) -> None:
        self.dtype: ComputeType = engine.dtype
        self.config, self.token_map = checkpoint.config, checkpoint.token_map
        self._engine = engine
        # The engine keeps the tensors; the softmax is for language models.
        self._facts = replace(checkpoint, tensors={}, softmax=None)
        self._hash: str | None = None

    @property
    def device(self) -> str:
        return "cpu"

    @property
    def checkpoint(self) -> Checkpoint:
        return replace(self._facts, tensors=self._engine.tensors)

    @property
    def products(self) -> str:
        return self._engine.backend

    def now(self) -> "EngineNetwork":
        return self

    def model_hash(self) -> str:
        if self._hash is None:
            self._hash = content_hash(self.checkpoint)
        return self._hash

    def token_weights(self) -> object:
        return self._engine

    def empty(self, count: int) -> Float[np.ndarray, "count projection"]:
        return np.empty((count, self.config.projection_size), np.float32)

    def encode(self, tokens: Sequence[str]) -> Float[np.ndarray, "tokens projection"]:
        ids = self.token_map.ids(tokens)
        return self._engine.token_vectors(ids.characters, ids.words)

    def read(
        self, batch: Batch, table: Float[np.ndarray, "types projection"], state: State | None, *, keeps_state: bool
    ) -> Contextualized[Float[np.ndarray, "layers positions dim"]]:
        starts = np.cumsum(batch.lengths) - batch.lengths
        layers, state = self._engine.contextualize_packed(table[np.concatenate(batch.lines)], batch.lengths, state)
        return Contextualized(layers, starts, state)

    def chosen(
        self, layers: Float[np.ndarray, "layers positions dim"], choice: LayerChoice
    ) -> Callable[[], Float[np.ndarray, "*layers positions dim"]]:
        found = choice.apply(layers)
        return lambda: found


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
    if dtype == "auto":
        return "bfloat16" if _is_fast_in_bfloat16(device) else "float32"
    if dtype == "int8" and device != "cpu":
        raise ConfigError(
            f"dtype is 'int8', but the device is {device!r}, which would only imitate it in float32, more slowly "
            "than float32 itself. Use bfloat16 (or auto) there, or a CPU (device='cpu', --device cpu) for int8."
        )
    if dtype not in get_args(ComputeType):
        raise ConfigError(
            f"dtype is {dtype!r}, but products are computed in: {', '.join(get_args(ComputeType))}; or auto, which "
            "takes the fastest that changes next to nothing. Choose one of them."
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
