"""Network: what an Embedder needs of a model, wherever it computes.

Token vectors and layers are arrays of the network's own kind, numpy's or torch's on its device; both are indexed alike.
States are numpy arrays for both: they are small.
"""

from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from elmo.config import BiLMConfig
from elmo.engine.engine import State
from elmo.layer_choice import LayerChoice
from elmo.ops.native.kinds import ComputeType
from elmo.shapes import Float, Int
from elmo.text.batches import Batch
from elmo.text.token_map import TokenMap

Array = TypeVar("Array")


class Contextualized(NamedTuple, Generic[Array]):
    """What a model makes of a batch."""

    layers: Array
    """(layers, positions, dim)"""
    starts: Int[np.ndarray, " batch"]
    """The position of each row's first token; those of the others follow it."""
    state: State
    """After each row's last token."""


class Network(Protocol[Array]):
    """One model with factors of one type."""

    dtype: ComputeType
    pads: bool
    """Whether it takes memory and time for the padding of a batch."""

    @property
    def config(self) -> BiLMConfig:
        """The architecture."""
        ...

    @property
    def token_map(self) -> TokenMap:
        """Tokens -> the ids that the model reads."""
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
        """What computes one call: a network whose weights don't change meanwhile, where that is possible."""
        ...

    def refresh(self) -> None:
        """Takes the weights as they are now, also where torch has not counted a change."""
        ...

    def require_usable(self) -> None:
        """Raises ConfigError if the weights are not those of an embedder any longer."""
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

    def read(self, batch: Batch, table: Array, state: State | None, max_tokens: int) -> Contextualized[Array]:
        """All layers and the new state, from the vectors `table` of the batch's distinct tokens.

        `max_tokens`: rows of more tokens are read in pieces, if it takes memory to read them in one.
        """
        ...

    def chosen(self, layers: Array, choice: LayerChoice) -> Float[np.ndarray, "*layers positions dim"]:
        """The chosen layers, in numpy."""
        ...
