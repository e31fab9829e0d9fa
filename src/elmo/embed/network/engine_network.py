"""EngineNetwork: weights that don't change, on the CPU, without torch."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from elmo.config import BiLMConfig
from elmo.embed.network.network import Contextualized
from elmo.engine.engine import Engine, State
from elmo.layer_choice import LayerChoice
from elmo.ops.native.kinds import ComputeType
from elmo.shapes import Float
from elmo.text.batches import Batch
from elmo.text.token_map import TokenMap
from elmo.weights.checkpoint import Checkpoint, content_hash


class EngineNetwork:
    """A checkpoint and its engine."""

    device = "cpu"
    pads = False

    def __init__(self, checkpoint: Checkpoint, engine: Engine) -> None:
        self.dtype: ComputeType = engine.dtype
        self._engine = engine
        # The engine keeps the tensors; the softmax is for language models.
        self._facts = replace(checkpoint, tensors={}, softmax=None)
        self._hash: str | None = None

    @property
    def checkpoint(self) -> Checkpoint:
        """The model without its softmax. Each access to a tensor may make it anew (`Engine.tensors`)."""
        return replace(self._facts, tensors=self._engine.tensors)

    @property
    def config(self) -> BiLMConfig:
        """The architecture."""
        return self._facts.config

    @property
    def token_map(self) -> TokenMap:
        """Tokens -> the ids that the model reads."""
        return self._facts.token_map

    @property
    def products(self) -> str:
        """What computes its products: "native" or "numpy"."""
        return self._engine.tier

    def now(self) -> "EngineNetwork":
        """Itself."""
        return self

    def refresh(self) -> None:
        """Its weights don't change."""

    def require_usable(self) -> None:
        """A checkpoint was checked when it was read."""

    def model_hash(self) -> str:
        """`content_hash` of the checkpoint, computed once."""
        if self._hash is None:
            self._hash = content_hash(self.checkpoint)
        return self._hash

    def token_weights(self) -> object:
        """They don't change, and another engine has others."""
        return self._engine

    def empty(self, count: int) -> Float[np.ndarray, "count projection"]:
        """Without values."""
        return np.empty((count, self.config.projection_size), np.float32)

    def encode(self, tokens: Sequence[str]) -> Float[np.ndarray, "tokens projection"]:
        """See `Network`."""
        ids = self.token_map.ids(tokens)
        return self._engine.token_vectors(ids.characters, ids.words)

    def read(
        self, batch: Batch, table: Float[np.ndarray, "types projection"], state: State | None, max_tokens: int
    ) -> Contextualized[Float[np.ndarray, "layers positions dim"]]:
        """All layers and the new state; the engine's memory doesn't grow with the length of a row's gates."""
        starts = np.cumsum(batch.lengths) - batch.lengths
        layers, state = self._engine.contextualize_packed(table[batch.packed_places], batch.lengths, state)
        return Contextualized(layers, starts, state)

    def chosen(
        self, layers: Float[np.ndarray, "layers positions dim"], choice: LayerChoice
    ) -> Float[np.ndarray, "*layers positions dim"]:
        """The chosen layers."""
        return choice.apply(layers)
