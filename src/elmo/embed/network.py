"""Network: what an Embedder needs of a model, wherever it computes, and the engine, which computes without torch.

Token vectors and layers are arrays of the network's own kind, numpy's or torch's on its device; both are indexed alike.
States are numpy arrays for both: they are small. `torch_network` has the other one.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from elmo.engine.engine import Engine, State
from elmo.layer_choice import LayerChoice
from elmo.ops.native.kinds import ComputeType
from elmo.shapes import Float, Int
from elmo.text.batches import Batch
from elmo.text.token_map import TokenMap
from elmo.weights.checkpoint import Checkpoint, content_hash

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

    pads: bool
    """Whether it takes memory and time for the padding of a batch."""
    batches_ahead: int
    """Batches to begin before the vectors of one are waited for."""
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
