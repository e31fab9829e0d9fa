"""TokenRepresentation: what a task's model reads of a token - static vectors, ELMo, both, or neither.

sentences -> static vectors ----------------------+-> input  [x ; ELMo]   what the first RNN reads
          -> biLM, frozen and remembered, or live |
             -> one scalar mix for each placement +-> output [h ; ELMo]   what is put beside the first RNN's output

Source: paper section 3.3; specification 5 and 7.
"""

import copy
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from elmo.errors import ConfigError
from elmo.model.elmo import ELMo
from elmo.static.vectors import StaticVectors
from elmo.tasks.settings import TokenSettings
from elmo.tasks.tokens.frozen_layers import FrozenLayers
from elmo.tasks.tokens.static_embedding import StaticEmbedding

Sentences = Sequence[Sequence[str]]

_BILM = "elmo.bilm."


@dataclass(frozen=True)
class TokenVectors:
    """A batch's vectors; zero where `mask` is false."""

    input: Float[Tensor, "batch tokens input_dim"]
    """For the first RNN: static vectors, then ELMo. `input_dim` may be 0."""
    output: Float[Tensor, "batch tokens output_dim"] | None
    """ELMo for beside the RNN's output; None: nothing is put there."""
    mask: Bool[Tensor, "batch tokens"]
    """True at a token."""

    @property
    def lengths(self) -> Tensor:
        """(batch,) tokens of each sentence."""
        return self.mask.sum(dim=1)


class TokenRepresentation(nn.Module):
    """Sentences -> `TokenVectors`. Several sentences of an example (a question, a passage) share its mixes."""

    def __init__(
        self,
        settings: TokenSettings,
        *,
        frozen: FrozenLayers | None = None,
        static: StaticVectors | None = None,
        train_words: Collection[str] = (),
    ) -> None:
        """`frozen`: the biLM, needed with encoder="elmo"; with `train_bilm` a copy of it is trained.
        `static`: static vectors, or none. `train_words`: the words of training, trained with `train_static`."""
        super().__init__()
        if (settings.encoder == "elmo") != (frozen is not None):
            raise ConfigError(
                f"encoder is {settings.encoder!r}, but {'a' if frozen else 'no'} biLM was given with it. Pass `frozen` "
                "with 'elmo', and only then."
            )
        self.settings = settings
        self.static = None
        if static is not None:
            self.static = StaticEmbedding(static, train_words if settings.train_static else ())
        self.elmo = None if frozen is None else _elmo(settings, frozen)
        self._frozen = None if settings.train_bilm else frozen
        # Moves with the model: where vectors are wanted, also when there is neither ELMo nor a static vector.
        self.register_buffer("_place", torch.zeros(0), persistent=False)

    @property
    def device(self) -> torch.device:
        """Where the vectors will be."""
        return self._place.device

    @property
    def input_dim(self) -> int:
        """Numbers of a token at the input; 0 is possible."""
        static = 0 if self.static is None else self.static.dim
        return static + (self._elmo_dim if self.settings.placement in ("input", "both") else 0)

    @property
    def output_dim(self) -> int:
        """Numbers of a token for the output; 0: none are put there."""
        return self._elmo_dim if self.settings.placement in ("output", "both") else 0

    @property
    def _elmo_dim(self) -> int:
        return 0 if self.elmo is None else self.elmo.output_dim

    def forward(self, sentences: Sentences) -> TokenVectors:
        """A batch's vectors. An empty sentence has no true position in the mask."""
        mask = mask_of(sentences).to(self.device)
        parts = [] if self.static is None else [self.static(sentences)]
        mixes = self._mixes(sentences)
        if self.settings.placement in ("input", "both"):
            parts += mixes[:1]
        output = mixes[-1] if mixes and self.settings.placement in ("output", "both") else None
        nothing = self._place.new_zeros(*mask.shape, 0)
        return TokenVectors(torch.cat(parts, dim=2) if parts else nothing, output, mask)

    def penalty(self) -> Float[Tensor, ""]:
        """What the mixes add to the loss; 0 unless they are learned."""
        if self.elmo is None:
            return self._place.new_zeros(())
        return self.elmo.mix_penalty(self.settings.mix_penalty)

    def mix_weights(self) -> list[dict[str, Any]]:
        """`ELMo.mix_weights` with each mix's "placement"; empty without ELMo."""
        if self.elmo is None:
            return []
        places = ["input", "output"] if self.settings.placement == "both" else [self.settings.placement]
        return [{"placement": place, **mix} for place, mix in zip(places, self.elmo.mix_weights(), strict=True)]

    def _mixes(self, sentences: Sentences) -> tuple[Tensor, ...]:
        if self.elmo is None:
            return ()
        if self._frozen is None:
            return self.elmo([list(sentence) for sentence in sentences]).mixes
        return self.elmo.mix(self._frozen.batch(sentences, self.device)).mixes


def _elmo(settings: TokenSettings, frozen: FrozenLayers) -> ELMo:
    bilm = copy.deepcopy(frozen.bilm) if settings.train_bilm else frozen.bilm
    elmo = ELMo(
        bilm,
        num_mixes=2 if settings.placement == "both" else 1,
        dropout=settings.elmo_dropout,
        layer_norm=False if settings.layer_norm == "none" else settings.layer_norm,
        trainable=settings.train_bilm,
        top_only=settings.layers == "top",
        train_mix=settings.layers != "average",
    )
    for mix in elmo.mixes:  # also of the plain average: it is the paper's penalty without end, which leaves gamma free
        mix.gamma.requires_grad_(True)
    return elmo


def mask_of(sentences: Sentences) -> Bool[Tensor, "batch tokens"]:
    """True where a sentence has a token."""
    lengths = torch.tensor([len(sentence) for sentence in sentences], dtype=torch.int64)
    return torch.arange(int(lengths.max()) if len(lengths) else 0)[None, :] < lengths[:, None]


def learned_state(model: nn.Module) -> dict[str, Tensor]:
    """A task model's `state_dict` without what is found elsewhere: a biLM that isn't trained."""
    tokens: Any = model.tokens
    trained = tokens.settings.train_bilm
    return {name: tensor for name, tensor in model.state_dict().items() if trained or f"tokens.{_BILM}" not in name}


def load_learned_state(model: nn.Module, tensors: dict[str, Tensor]) -> None:
    """The reverse of `learned_state`, in place. Raises ConfigError if the names or shapes are of another model."""
    own = learned_state(model)
    found = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    shapes = {name: tuple(tensor.shape) for name, tensor in own.items()}
    if found != shapes:
        name = min(name for name in {**shapes, **found} if shapes.get(name) != found.get(name))
        raise ConfigError(
            f"{name!r} has shape {found.get(name)} among the saved tensors, but {shapes.get(name)} here (None: it is "
            "not there): they are of a model with other settings or other labels. Build it as it was built then."
        )
    with torch.no_grad():
        for name, tensor in tensors.items():
            own[name].copy_(tensor)
