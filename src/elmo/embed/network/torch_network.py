"""TorchNetwork: a biLM that lives in torch, on any device. Its weights may change from call to call."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from elmo.config import BiLMConfig
from elmo.embed.network.engine_network import EngineNetwork
from elmo.embed.network.fixed_shapes import encode_in_fixed_shapes
from elmo.embed.network.network import Contextualized
from elmo.embed.network.pieces import contextualize_in_pieces
from elmo.engine.engine import Engine, State
from elmo.engine.token_encoder import rounded_to
from elmo.errors import ConfigError
from elmo.layer import on_engine
from elmo.layer_choice import LayerChoice
from elmo.model.bilm import BiLM, BiLMOutput, BiLMState
from elmo.ops.native.kinds import ComputeType
from elmo.ops.product import RoundedProducts
from elmo.shapes import Float
from elmo.text.batches import Batch
from elmo.text.token_map import TokenMap
from elmo.weights.checkpoint import Checkpoint, content_hash


class TorchNetwork:
    """What torch computes: on other devices than CPUs, and where the engine can't read the biLM (`now`)."""

    pads = True

    def __init__(self, bilm: BiLM, dtype: ComputeType) -> None:
        self.dtype: ComputeType = dtype
        self.bilm = bilm.eval()

    @property
    def config(self) -> BiLMConfig:
        """The architecture."""
        return self.bilm.config

    @property
    def token_map(self) -> TokenMap:
        """Tokens -> the ids that the model reads."""
        return self.bilm.token_map

    @property
    def device(self) -> str:
        """Where the weights are."""
        return str(self.bilm.device)

    @property
    def products(self) -> str:
        """What computes its products: "native" or "numpy" on a CPU, else "torch"."""
        engine = self._engine()
        return "torch" if engine is None else engine.tier

    def now(self) -> "EngineNetwork | TorchNetwork":
        """The engine on a copy of the weights, if it can read them; `layer.on_engine` says when a change is seen."""
        engine = self._engine()
        return self if engine is None else EngineNetwork(Checkpoint(self.config, {}, self.token_map), engine)

    def require_usable(self) -> None:
        """Raises ConfigError unless the weights are float32: `bilm.half()` and the like change all of them.

        Of the token encoder and each language model the first weight is looked at.
        """
        for part in (self.bilm.token_encoder, *self.bilm.lstms):
            if (dtype := next(part.parameters()).dtype) != torch.float32:
                raise ConfigError(
                    f"the biLM's weights are {dtype}, but an Embedder computes from float32 weights. Convert them back "
                    "with bilm.float(); to compute faster, pass dtype='bfloat16' to the Embedder."
                )

    def model_hash(self) -> str:
        """`content_hash` of all weights, as they are now."""
        return content_hash(self.bilm.to_checkpoint())

    def token_weights(self) -> object:
        """Differs when a weight was changed, and at every call if hooks or replaced modules may change the vectors."""
        return on_engine.unchanged(self.bilm)

    @torch.no_grad()
    def _engine(self) -> Engine | None:
        return on_engine.engine_of(self.bilm, self.dtype)

    def refresh(self) -> None:
        """Takes the weights as they are now."""
        on_engine.refresh(self.bilm)

    def empty(self, count: int) -> Float[Tensor, "count projection"]:
        """Without values."""
        # With its type and device, because a program may have changed torch's defaults.
        return torch.empty(count, self.config.projection_size, dtype=torch.float32, device=self.bilm.device)

    @torch.inference_mode()
    def encode(self, tokens: Sequence[str]) -> Float[Tensor, "tokens projection"]:
        """See `Network`."""
        ids = self.token_map.ids(tokens)
        with RoundedProducts(rounded_to(self.dtype)):
            return encode_in_fixed_shapes(self.bilm, ids, len(tokens))

    @torch.inference_mode()
    def read(
        self, batch: Batch, table: Float[Tensor, "types projection"], state: State | None, max_tokens: int
    ) -> Contextualized[Float[Tensor, "layers positions dim"]]:
        """All layers and the new state."""
        vectors = table[torch.from_numpy(batch.places).to(table.device)]
        with RoundedProducts(self.dtype):
            output = self._contextualized(vectors, batch, self._on_device(state), max_tokens)
        rows, tokens = batch.places.shape
        state = State(output.state.hidden.cpu().numpy(), output.state.cell.cpu().numpy())
        return Contextualized(output.layers.flatten(1, 2), np.arange(rows) * tokens, state)

    @torch.inference_mode()
    def chosen(
        self, layers: Float[Tensor, "layers positions dim"], choice: LayerChoice
    ) -> Float[np.ndarray, "*layers positions dim"]:
        """The chosen layers, computed on the device: only they leave it."""
        return choice.apply(layers).cpu().numpy()

    def _contextualized(
        self, vectors: Float[Tensor, "batch tokens projection"], batch: Batch, state: BiLMState | None, max_tokens: int
    ) -> BiLMOutput:
        lengths = torch.from_numpy(batch.lengths).to(vectors.device)
        rows, tokens = batch.places.shape
        if rows * tokens > max_tokens:
            return contextualize_in_pieces(self.bilm, vectors, lengths, state, max(1, max_tokens // rows))
        return self.bilm.contextualize(vectors, lengths, state)

    def _on_device(self, state: State | None) -> BiLMState | None:
        return None if state is None else BiLMState(*(torch.from_numpy(part).to(self.bilm.device) for part in state))
