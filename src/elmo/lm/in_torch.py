"""TorchLanguageModel: a biLM and a softmax that live in torch, on any device, perhaps in training.

The biLM is read by the engine where that can (`elmo.layer.on_engine`).
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from elmo.engine.engine import State
from elmo.layer import on_engine
from elmo.lm.language_model import LanguageModel, Poll
from elmo.model.bilm import BiLM
from elmo.model.lm_head import LMHead
from elmo.shapes import Float, Int, Shaped

_TOKENS = 4096  # whose vectors are computed together


class TorchLanguageModel(LanguageModel[Tensor]):
    """`bilm` and `head`, on one device; nothing is computed for gradients."""

    def __init__(self, bilm: BiLM, head: LMHead) -> None:
        self.bilm, self.head = bilm, head
        self.config, self.token_map = bilm.config, bilm.token_map
        self.vocabulary, self.target_ids = head.vocabulary, head.target_ids

    @torch.no_grad()
    def token_vectors(self, tokens: Sequence[str]) -> Float[Tensor, "tokens projection"]:
        """The context-insensitive vectors, some thousand at a time."""
        if (engine := on_engine.engine_of(self.bilm)) is not None:
            ids = self.token_map.ids(tokens)
            return torch.from_numpy(engine.token_vectors(ids.characters, ids.words))
        starts = range(0, len(tokens), _TOKENS)
        return torch.cat([self.bilm.vectors_of(tokens[start : start + _TOKENS]) for start in starts])

    @torch.no_grad()
    def outputs(
        self,
        table: Float[Tensor, "types projection"],
        places: Int[np.ndarray, "batch tokens"],
        lengths: Int[np.ndarray, " batch"],
    ) -> dict[str, Float[Tensor, "batch tokens projection"]]:
        if (engine := on_engine.engine_of(self.bilm)) is not None:
            top = torch.from_numpy(engine.contextualize(table.numpy()[places], lengths)[0][-1])
        else:
            top = self.bilm.contextualize(table[self._tensor(places)], self._tensor(lengths)).layers[-1]
        return dict(zip(self.config.directions, top.chunk(len(self.config.directions), dim=2), strict=True))

    @torch.no_grad()
    def continued(
        self,
        direction: str,
        table: Float[Tensor, "types projection"],
        places: Int[np.ndarray, "batch tokens"],
        lengths: Int[np.ndarray, " batch"],
        state: State | None,
    ) -> tuple[Float[Tensor, "batch tokens projection"], State]:
        if (engine := on_engine.engine_of(self.bilm)) is not None:
            outputs, state = engine.continued(direction, table.numpy()[places], lengths, state)
            return torch.from_numpy(outputs), state
        if state is None:
            zeros = self.bilm.zero_state(len(places))
            hidden, cell = (part.chunk(len(self.config.directions), dim=2)[0].contiguous() for part in zeros)
        else:
            hidden, cell = map(self._tensor, state)
        lstm = getattr(self.bilm, f"{direction}_lstm")
        outputs, hidden, cell = lstm(table[self._tensor(places)], self._tensor(lengths), hidden, cell)
        return outputs[-1], State(hidden.cpu().numpy(), cell.cpu().numpy())

    @torch.no_grad()
    def nats(
        self,
        outputs: Float[Tensor, "batch tokens projection"],
        target_ids: Int[np.ndarray, "batch tokens"],
        poll: Poll = lambda: None,
    ) -> Float[np.ndarray, "batch tokens"]:
        nats = self.head.nats(outputs.flatten(0, 1), self._tensor(target_ids).flatten(), poll=poll)
        return nats.view(target_ids.shape).cpu().numpy()

    @torch.no_grad()
    def log_probabilities(
        self, outputs: Float[Tensor, "batch tokens projection"], row: int, place: int
    ) -> Float[np.ndarray, " vocabulary"]:
        logits = self.head.logits(outputs[row, place : place + 1]).double()
        return torch.log_softmax(logits, dim=1)[0].cpu().numpy()

    def _tensor(self, values: Shaped[np.ndarray, "*shape"]) -> Shaped[Tensor, "*shape"]:
        return torch.from_numpy(values).to(self.bilm.device)
