"""ModelReference: a model by its name, for objects that are copied, pickled and sent to other processes.

The weights are read at the first use, once for each process and model. What was used first is held: a name that means
other weights later, on another machine or after an update, is an error and no silent change of vectors.
"""

import os
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from jaxtyping import Float32

from elmo.embed.embedder import Embedder
from elmo.errors import WeightFileError
from elmo.layer_choice import LayerChoice, Layers
from elmo.process.thread_lock import ThreadLock
from elmo.setting_checks import require_value
from elmo.weights.fingerprint import combine
from elmo.weights.hub import DEFAULT_MODEL, MODEL_VARIABLE

State = Literal["zero", "warm"]

_lock = ThreadLock()


@dataclass
class ModelReference:
    """A model and how it computes, as plain values.

    `model`: a name, folder, file or hub id, as for `Embedder.from_pretrained`; None becomes the default's name at once.
    `dtype`, `state`: as for `Embedder`; the state "carry" is refused, because the order of calls is not ours here.
    `model_hash`: SHA-256 of the weights that must be found, and of the warm state if sentences start from it; None
    until the first use.
    """

    model: str | None = None
    dtype: str = "float32"
    state: State = "zero"
    model_hash: str | None = None

    def __post_init__(self) -> None:
        # Not "carry": another library decides which sentences are computed together, and in which order.
        require_value("state", self.state, State)
        self.model = str(self.model or os.environ.get(MODEL_VARIABLE) or DEFAULT_MODEL)

    @property
    def embedder(self) -> Embedder:
        """The model, loaded unless this process has it. Raises WeightFileError if it has other weights than before, or
        another warm state."""
        with _lock.mutex:  # several threads load a model once
            embedder = _loaded(str(self.model), self.dtype, self.state)
        found = _hash_of(embedder)
        if self.model_hash is None:
            self.model_hash = found
        # What elmo 0.1.0 saved knows the weights alone.
        elif self.model_hash not in (found, embedder.model_hash):
            what = "weights" if embedder.state_hash is None else "weights and the warm state"
            raise WeightFileError(
                f"{self.model}: has the {what} {found[:12]}, but this was made with {self.model_hash[:12]}. Give the "
                "model that was used, or train again."
            )
        return embedder

    def dim(self, layers: Layers) -> int:
        """Dimensions of a token's vector with these layers; `layers="all"` stands side by side."""
        embedder = self.embedder
        keeps_all = LayerChoice.of(layers, embedder.num_layers).keeps_all
        return embedder.layer_dim * (embedder.num_layers if keeps_all else 1)


def _hash_of(embedder: Embedder) -> str:
    """Of all that decides its vectors."""
    if embedder.state_hash is None:
        return embedder.model_hash
    return combine({"weights": embedder.model_hash, "warm state": embedder.state_hash})


@lru_cache(4)
def _loaded(model: str, dtype: str, state: State) -> Embedder:
    return Embedder.from_pretrained(model, dtype=dtype, state=state)


def side_by_side(
    vectors: Float32[np.ndarray, "layers tokens dim"] | Float32[np.ndarray, "tokens dim"],
) -> Float32[np.ndarray, "tokens width"]:
    """One row for each token, for libraries that know no layers: all layers of a token next to each other."""
    if vectors.ndim == 2:
        return vectors
    layers, tokens, dim = vectors.shape
    return np.ascontiguousarray(vectors.transpose(1, 0, 2)).reshape(tokens, layers * dim)
