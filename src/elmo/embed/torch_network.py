"""TorchNetwork: a biLM that lives in torch, on any device. Its weights may change from call to call.

Token vectors: a matrix product may round differently when its shape differs, so that a word's vector would depend on
which others were new in a call. So every product has a shape the word itself decides: a fixed number of rows, cut at
one of three widths.
"""

from collections.abc import Callable, Sequence
from copy import copy

import numpy as np
import torch
from torch import Tensor

from elmo.embed.network import Contextualized, EngineNetwork, Network
from elmo.embed.recorded import RecordedReading
from elmo.engine.engine import Engine, State
from elmo.engine.token_encoder import columns_used, rounded_to
from elmo.errors import ConfigError
from elmo.layer import on_engine
from elmo.layer_choice import LayerChoice
from elmo.model.bilm import BiLM, BiLMState
from elmo.ops.native.kinds import ComputeType
from elmo.ops.product import RoundedProducts
from elmo.shapes import Float, Int
from elmo.text.batches import Batch
from elmo.text.token_map import TokenIds, TokenMap
from elmo.weights.checkpoint import Checkpoint, content_hash

# Words in a product, with one that fills the rest; a GPU wants more.
_ROWS, _ROWS_ON_GPU = 256, 2048
# Columns a word may use: 8 characters and 16 with the two marks; longer words get the full width.
_WIDTHS = (10, 18)


class TorchNetwork(Network[Tensor]):
    """What torch computes: on other devices than CPUs, and where the engine can't read the biLM (`now`)."""

    pads, batches_ahead = True, 1

    def __init__(self, bilm: BiLM, dtype: ComputeType) -> None:
        self.dtype: ComputeType = dtype
        self.bilm = bilm.eval()
        self.config, self.token_map = bilm.config, bilm.token_map
        self._recorded = RecordedReading(bilm, dtype)
        self._weights: object | None = None

    @property
    def checkpoint(self) -> Checkpoint:
        return self.bilm.to_checkpoint()

    @property
    def device(self) -> str:
        return str(self.bilm.device)

    @property
    def products(self) -> str:
        engine = self._engine()
        return "torch" if engine is None else engine.backend

    def now(self) -> "EngineNetwork | TorchNetwork":
        """The engine on a copy of the weights as they are now, if it can read them."""
        if self.bilm._forward_hooks or self.bilm._forward_pre_hooks:
            raise ConfigError(
                "the biLM has a forward hook of its own, but an Embedder calls the biLM's parts, so it would never be "
                "called. Register the hook on a part, such as bilm.forward_lstm, or use ELMo."
            )
        # `bilm.half()` and the like change all weights of the token encoder and of each language model.
        for part in (self.bilm.token_encoder, *self.bilm.lstms):
            if (dtype := next(part.parameters()).dtype) != torch.float32:
                raise ConfigError(
                    f"the biLM's weights are {dtype}, but an Embedder computes from float32 weights. Convert them back "
                    "with bilm.float(); to compute faster, pass dtype='bfloat16' to the Embedder."
                )
        engine = self._engine()
        if engine is not None:
            return EngineNetwork(Checkpoint(self.config, {}, self.token_map), engine)
        network = copy(self)
        network._weights = on_engine.unchanged(self.bilm)  # compared once a call, not once a batch
        return network

    def model_hash(self) -> str:
        return content_hash(self.bilm.to_checkpoint())

    def token_weights(self) -> object:
        """Differs when a weight was changed, and at every call if hooks or replaced modules may change the vectors."""
        return self._weights or on_engine.unchanged(self.bilm) or object()

    @torch.no_grad()
    def _engine(self) -> Engine | None:
        return on_engine.engine_of(self.bilm, self.dtype)

    def empty(self, count: int) -> Float[Tensor, "count projection"]:
        # With its type and device, because a program may have changed torch's defaults.
        return torch.empty(count, self.config.projection_size, dtype=torch.float32, device=self.bilm.device)

    @torch.inference_mode()
    def encode(self, tokens: Sequence[str]) -> Float[Tensor, "tokens projection"]:
        ids = self.token_map.ids(tokens)
        with RoundedProducts(rounded_to(self.dtype)):
            return encode_in_fixed_shapes(self.bilm, ids, len(tokens))

    @torch.inference_mode()
    def read(
        self, batch: Batch, table: Float[Tensor, "types projection"], state: State | None, *, keeps_state: bool
    ) -> Contextualized[Float[Tensor, "layers positions dim"]]:
        vectors = table[torch.from_numpy(batch.places).to(table.device)]
        rows, tokens = batch.places.shape
        starts = np.arange(rows) * tokens
        if vectors.is_cuda and state is None and not keeps_state:
            layers = self._recorded.read(vectors, batch.lengths, self.token_weights())
            if layers is not None:
                return Contextualized(layers.flatten(1, 2), starts, None)
        with RoundedProducts(self.dtype):
            lengths = torch.from_numpy(batch.lengths).to(vectors.device)
            output = self.bilm.contextualize(vectors, lengths, self._on_device(state))
        after = State(*(part.cpu().numpy() for part in output.state)) if keeps_state else None
        return Contextualized(output.layers.flatten(1, 2), starts, after)

    @torch.inference_mode()
    def chosen(
        self, layers: Float[Tensor, "layers positions dim"], choice: LayerChoice
    ) -> Callable[[], Float[np.ndarray, "*layers positions dim"]]:
        found = choice.apply(layers)
        if not found.is_cuda:
            return found.cpu().numpy
        host = torch.empty(found.shape, dtype=found.dtype, pin_memory=True).copy_(found, non_blocking=True)
        copied = torch.cuda.Event()
        copied.record(torch.cuda.current_stream(found.device))

        def wait() -> Float[np.ndarray, "*layers positions dim"]:
            copied.synchronize()
            return host.numpy()

        return wait

    def _on_device(self, state: State | None) -> BiLMState | None:
        return None if state is None else BiLMState(*(torch.from_numpy(part).to(self.bilm.device) for part in state))


def encode_in_fixed_shapes(bilm: BiLM, ids: TokenIds, count: int) -> Float[Tensor, "tokens projection"]:
    """The vectors of `count` tokens, on the biLM's device."""
    result = torch.empty(count, bilm.config.projection_size, dtype=torch.float32, device=bilm.device)
    most = _ROWS_ON_GPU if bilm.device.type == "cuda" else _ROWS
    widths = np.zeros(count, np.int64) if ids.characters is None else _widths(ids.characters)
    for width in np.unique(widths):
        same = np.flatnonzero(widths == width)
        for start in range(0, len(same), most - 1):
            chosen = same[start : start + most - 1]
            characters, words = _fillers(bilm.token_map, int(width), most)
            if characters is not None and ids.characters is not None:
                characters[: len(chosen)] = ids.characters[chosen]
            if words is not None and ids.words is not None:
                words[: len(chosen)] = ids.words[chosen]
            vectors = bilm.token_vectors(_on_device(characters, bilm), _on_device(words, bilm))
            result[torch.from_numpy(chosen).to(result.device)] = vectors[: len(chosen)]
    return result


def _on_device(ids: Int[np.ndarray, "*shape"] | None, bilm: BiLM) -> Int[Tensor, "*shape"] | None:
    return None if ids is None else torch.from_numpy(ids).to(bilm.device)


def _widths(characters: Int[np.ndarray, "tokens characters"]) -> Int[np.ndarray, " tokens"]:
    """For each row the columns kept for words like it."""
    most = characters.shape[1]
    limits = np.array([*(width for width in _WIDTHS if width < most), most])
    return limits[np.searchsorted(limits, columns_used(characters))]


def _fillers(
    token_map: TokenMap, width: int, rows: int
) -> tuple[Int[np.ndarray, "rows characters"] | None, Int[np.ndarray, " rows"] | None]:
    """Ids of `rows` words of just that width: one of them always remains, so it decides where rows are cut."""
    characters = words = None
    if token_map.characters is not None:
        characters = np.repeat(token_map.characters.ids(["a" * (width - 2)]), rows, axis=0)
    if token_map.words is not None:
        words = np.repeat(token_map.words.ids(token_map.boundary_tokens[:1]), rows)
    return characters, words
