"""LanguageModel: what this room needs of a model, wherever it computes.

Token vectors and outputs are arrays of the model's own kind, numpy's or torch's on its device. Places, ids, nats and
states are numpy arrays for both.
"""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import numpy as np

from elmo.config import BiLMConfig
from elmo.engine.engine import State
from elmo.shapes import Float, Int
from elmo.text.token_map import TokenMap
from elmo.text.vocabulary import TargetIds

Array = TypeVar("Array")
Poll = Callable[[], object]


class LanguageModel(Protocol[Array]):
    """A biLM with its softmax."""

    @property
    def config(self) -> BiLMConfig:
        """The architecture."""
        ...

    @property
    def token_map(self) -> TokenMap:
        """Tokens -> the ids that the model reads."""
        ...

    @property
    def vocabulary(self) -> list[str]:
        """The words it predicts."""
        ...

    @property
    def target_ids(self) -> TargetIds:
        """What is predicted for each token."""
        ...

    def token_vectors(self, tokens: Sequence[str]) -> Array:
        """(tokens, projection) the context-insensitive vectors; boundary tokens are recognized by their spelling."""
        ...

    def outputs(
        self, table: Array, places: Int[np.ndarray, "batch tokens"], lengths: Int[np.ndarray, " batch"]
    ) -> dict[str, Array]:
        """Each direction's top layer, (batch, tokens, projection), in the order of the text, from a zero state.

        `table`: vectors of distinct tokens; `places`: the place of each token of the batch among them.
        """
        ...

    def continued(
        self,
        direction: str,
        table: Array,
        places: Int[np.ndarray, "batch tokens"],
        lengths: Int[np.ndarray, " batch"],
        state: State | None,
    ) -> tuple[Array, State]:
        """One direction's top layer and its state afterwards. Rows stand in the order that the direction reads them.

        `state`: that of this direction alone, or None for zeros.
        """
        ...

    def nats(
        self, outputs: Array, target_ids: Int[np.ndarray, "batch tokens"], poll: Poll = lambda: None
    ) -> Float[np.ndarray, "batch tokens"]:
        """-ln p of each target after each output; `poll` is called every few seconds and may raise to end it."""
        ...

    def log_probabilities(self, outputs: Array, row: int, place: int) -> Float[np.ndarray, " vocabulary"]:
        """ln p of every word after the output at `outputs[row, place]`, float64."""
        ...
