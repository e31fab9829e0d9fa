"""Engine: a biLM's tensors, laid out once -> token vectors, and the vectors of all layers.

characters, words (types, ...)                        `token_vectors`   -> (types, projection)
token vectors (batch, tokens, projection), lengths    `contextualize`   -> (layers + 1, batch, tokens, dim), new state
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from elmo.config import BiLMConfig
from elmo.engine import backend
from elmo.engine.inputs import checked_rows, require_tensors
from elmo.engine.stacks import Stack, read_stacks
from elmo.engine.token_encoder import TokenEncoder
from elmo.engine.weight_store import WeightStore, layer_weights
from elmo.ops.native.kinds import ComputeType
from elmo.process.thread_lock import ThreadLock
from elmo.shapes import Float, Int
from elmo.weights.checkpoint import Checkpoint


class State(NamedTuple):
    """What the LSTMs remember of each row: both directions side by side, the forward one first."""

    hidden: Float[np.ndarray, "layers batch projections"]
    cell: Float[np.ndarray, "layers batch cells"]

    def rows(self, rows: slice) -> "State":
        """The state of some rows, in the same memory."""
        return State(self.hidden[:, rows], self.cell[:, rows])


def zero_state(config: BiLMConfig, batch: int, dtype: DTypeLike = np.float32, directions: int | None = None) -> State:
    """Nothing remembered, for `batch` rows. `directions`: of how many, by default of all that the model has."""
    directions = len(config.directions) if directions is None else directions
    sizes = (directions * config.projection_size, directions * config.cell_size)
    return State(*(np.zeros((config.num_layers, batch, size), dtype) for size in sizes))


class Engine:
    """One biLM, with factors of one type. Any number of threads may call it at once.

    `tensors`: by the names in `BiLM.state_dict()`, all float32; or all float64, for which only numpy computes. They
    must not be changed afterwards. What a call needs is laid out at its first use; the engine then lets go of the
    matrices that it was given, unless it has rounded them. Raises ConfigError for tensors that the config doesn't
    describe.
    """

    def __init__(self, config: BiLMConfig, tensors: Mapping[str, np.ndarray], dtype: ComputeType = "float32") -> None:
        self.config = config
        self.dtype: ComputeType = dtype
        self.tensors = WeightStore(tensors)
        """The tensors it was given. An access makes a matrix again that was laid out: 0.1 s for a large one."""
        require_tensors(config, self.tensors.held)
        self._dtype = next(iter(self.tensors.held.values())).dtype
        self.backend = backend.backend_for(dtype, self.tensors.held.values())
        """What computes: "native" (the C library) or "numpy"."""
        self._encoder: TokenEncoder | None = None
        self._stacks: list[Stack] | None = None
        self._lock = ThreadLock()

    @classmethod
    def from_checkpoint(cls, checkpoint: Checkpoint, dtype: ComputeType = "float32") -> "Engine":
        """The engine of a checkpoint, on the same memory until it is laid out."""
        return cls(checkpoint.config, checkpoint.tensors, dtype)

    def token_vectors(
        self,
        characters: Int[np.ndarray, "types characters"] | None,
        words: Int[np.ndarray, " types"] | None = None,
    ) -> Float[np.ndarray, "types projection"]:
        """The context-insensitive vector of each token, from the ids that the model reads (`TokenMap.ids`).

        Raises ConfigError for ids of another shape, or that the model doesn't know.
        """
        with self._lock.mutex:
            if self._encoder is None:
                self._encoder = TokenEncoder(self.config, self.tensors.held, self.dtype)
        return self._encoder(characters, words)

    def contextualize(
        self,
        vectors: Float[np.ndarray, "batch tokens projection"],
        lengths: Int[np.ndarray, " batch"],
        state: State | None = None,
    ) -> tuple[Float[np.ndarray, "layers_and_tokens batch tokens dim"], State]:
        """Token vectors, boundaries included, -> all layers and the state after each row's last token.

        Layer 0 is the token vector, once per direction. What is beyond a row's length is ignored, and zero in the
        result. `state`: what the rows start from (None: zeros).

        Raises ConfigError for vectors, lengths or a state of another type or shape, and lengths beyond the tokens.
        """
        return self._contextualized(self.stacks(), vectors, lengths, self._start(state, lengths))

    def _contextualized(
        self,
        stacks: Sequence[Stack],
        vectors: Float[np.ndarray, "batch tokens projection"],
        lengths: Int[np.ndarray, " batch"],
        state: State,
    ) -> tuple[Float[np.ndarray, "layers_and_tokens batch tokens dim"], State]:
        """`contextualize` by the directions of `stacks`."""
        lengths = checked_rows(self.config, len(stacks), self._dtype, vectors, lengths, state)
        batch, tokens, size = vectors.shape
        there = np.arange(tokens)[None, :] < lengths[:, None]
        layers = np.zeros((self.config.num_layers + 1, batch, tokens, len(stacks) * size), vectors.dtype)
        for place in range(len(stacks)):
            np.copyto(layers[0, :, :, place * size : (place + 1) * size], vectors, where=there[:, :, None])
        flat, starts = layers.reshape(len(layers), batch * tokens, len(stacks) * size), np.arange(batch) * tokens
        return layers, State(*read_stacks(stacks, flat, starts, lengths, *state))

    def contextualize_packed(
        self,
        vectors: Float[np.ndarray, "tokens projection"],
        lengths: Int[np.ndarray, " batch"],
        state: State | None = None,
    ) -> tuple[Float[np.ndarray, "layers_and_tokens tokens dim"], State]:
        """`contextualize` of rows joined one after the other, without padding: as many vectors as tokens."""
        stacks, state = self.stacks(), self._start(state, lengths)
        lengths = checked_rows(self.config, len(stacks), self._dtype, vectors, lengths, state, packed=True)
        tokens, size = vectors.shape
        layers = np.empty((self.config.num_layers + 1, tokens, len(stacks) * size), vectors.dtype)
        for place in range(len(stacks)):
            layers[0, :, place * size : (place + 1) * size] = vectors
        return layers, State(*read_stacks(stacks, layers, np.cumsum(lengths) - lengths, lengths, *state))

    def _start(self, state: State | None, lengths: Int[np.ndarray, " batch"]) -> State:
        return zero_state(self.config, np.size(lengths), self._dtype) if state is None else state

    def continued(
        self,
        direction: str,
        vectors: Float[np.ndarray, "batch tokens projection"],
        lengths: Int[np.ndarray, " batch"],
        state: State | None = None,
    ) -> tuple[Float[np.ndarray, "batch tokens projection"], State]:
        """One direction's top layer, of rows that are in its reading order already, and its state afterwards."""
        stack = self.stacks()[self.config.directions.index(direction)]._replace(backward=False)
        state = zero_state(self.config, len(lengths), self._dtype, directions=1) if state is None else state
        layers, state = self._contextualized([stack], vectors, lengths, state)
        return layers[-1], state

    def stacks(self) -> list[Stack]:
        """The LSTM layers of each direction."""
        with self._lock.mutex:
            if self._stacks is None:
                self._stacks = [self._stack(direction) for direction in self.config.directions]
            return self._stacks

    def _stack(self, direction: str) -> Stack:
        config, held = self.config, self.tensors.held
        indices = range(config.num_layers)
        weights = (layer_weights(held, direction, index) for index in indices)
        layers = [backend.layer(one, config.lstm_settings, self.dtype) for one in weights]
        skips = [config.skip_connections and index > 0 for index in indices]
        return Stack(layers, skips, direction == "backward")

    def __reduce__(self) -> tuple[Any, ...]:
        """Laid out weights hold addresses: a copy lays its own out."""
        return type(self), (self.config, dict(self.tensors), self.dtype)
