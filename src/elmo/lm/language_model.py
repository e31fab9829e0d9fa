"""LanguageModel: a biLM with its softmax, wherever it computes; EngineLanguageModel computes on the CPU without torch.

Token vectors and outputs are arrays of the model's own kind, numpy's or torch's on its device. Places, ids, nats and
states are numpy arrays for both.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

from elmo.config import BiLMConfig
from elmo.engine.engine import Engine, State
from elmo.engine.softmax import Softmax
from elmo.shapes import Float, Int
from elmo.text.token_map import TokenMap
from elmo.text.vocabulary import TargetIds
from elmo.weights.checkpoint import Checkpoint, required_softmax

Array = TypeVar("Array")
Poll = Callable[[], object]


class LanguageModel(ABC, Generic[Array]):
    """A biLM with its softmax."""

    config: BiLMConfig
    token_map: TokenMap
    """Tokens -> the ids that the model reads."""
    vocabulary: list[str]
    """The words it predicts."""

    @cached_property
    def target_ids(self) -> TargetIds:
        """The vocabulary id to predict for each token; built once, in about a second for a large vocabulary."""
        return TargetIds(self.vocabulary)

    def targets_of(self, tokens: Sequence[str]) -> Int[np.ndarray, " types"]:
        """The target's id for each of the distinct tokens of a text, of which the first two are the boundaries."""
        ids = self.target_ids
        return np.array([ids.begin, ids.end, *map(ids.id, tokens[2:])])

    @abstractmethod
    def token_vectors(self, tokens: Sequence[str]) -> Array:
        """(tokens, projection) the context-insensitive vectors; boundary tokens are recognized by their spelling."""

    @abstractmethod
    def outputs(
        self, table: Array, places: Int[np.ndarray, "batch tokens"], lengths: Int[np.ndarray, " batch"]
    ) -> dict[str, Array]:
        """Each direction's top layer, (batch, tokens, projection), in the order of the text, from a zero state.

        `table`: vectors of distinct tokens; `places`: the place of each token of the batch among them.
        """

    @abstractmethod
    def continued(
        self,
        direction: str,
        table: Array,
        places: Int[np.ndarray, "batch tokens"],
        lengths: Int[np.ndarray, " batch"],
        state: State | None,
    ) -> tuple[Array, State]:
        """One direction's top layer and its state afterwards. Rows are in the order that the direction reads them.

        `state`: that of this direction alone, or None for zeros.
        """

    @abstractmethod
    def nats(
        self, outputs: Array, target_ids: Int[np.ndarray, "batch tokens"], poll: Poll = lambda: None
    ) -> Float[np.ndarray, "batch tokens"]:
        """-ln p of each target after each output; `poll` is called every few seconds and may raise to end it."""

    @abstractmethod
    def log_probabilities(self, outputs: Array, row: int, place: int) -> Float[np.ndarray, " vocabulary"]:
        """ln p of every word after the output at `outputs[row, place]`, float64."""


class EngineLanguageModel(LanguageModel[np.ndarray]):
    """A checkpoint's biLM and softmax on the CPU, without torch.

    Raises WeightFileError if the checkpoint has no softmax; `name`: the model's name in the message.
    """

    def __init__(self, checkpoint: Checkpoint, name: str = "this model") -> None:
        tensors, self.vocabulary = required_softmax(checkpoint, name)
        self.config, self.token_map = checkpoint.config, checkpoint.token_map
        self._engine = Engine.from_checkpoint(checkpoint)
        self._softmax = Softmax(tensors)

    def token_vectors(self, tokens: Sequence[str]) -> Float[np.ndarray, "tokens projection"]:
        ids = self.token_map.ids(tokens)
        return self._engine.token_vectors(ids.characters, ids.words)

    def outputs(
        self,
        table: Float[np.ndarray, "types projection"],
        places: Int[np.ndarray, "batch tokens"],
        lengths: Int[np.ndarray, " batch"],
    ) -> dict[str, Float[np.ndarray, "batch tokens projection"]]:
        layers, _ = self._engine.contextualize(table[places], lengths)
        directions = self.config.directions
        return dict(zip(directions, np.split(layers[-1], len(directions), axis=2), strict=True))

    def continued(
        self,
        direction: str,
        table: Float[np.ndarray, "types projection"],
        places: Int[np.ndarray, "batch tokens"],
        lengths: Int[np.ndarray, " batch"],
        state: State | None,
    ) -> tuple[Float[np.ndarray, "batch tokens projection"], State]:
        return self._engine.continued(direction, table[places], lengths, state)

    def nats(
        self,
        outputs: Float[np.ndarray, "batch tokens projection"],
        target_ids: Int[np.ndarray, "batch tokens"],
        poll: Poll = lambda: None,
    ) -> Float[np.ndarray, "batch tokens"]:
        flat = outputs.reshape(-1, outputs.shape[-1])
        return self._softmax.nats(flat, target_ids.ravel(), poll).reshape(target_ids.shape)

    def log_probabilities(
        self, outputs: Float[np.ndarray, "batch tokens projection"], row: int, place: int
    ) -> Float[np.ndarray, " vocabulary"]:
        return self._softmax.log_probabilities(outputs[row, place : place + 1])[0]
