"""TokenRepresentation: what a task's model reads of a token - static vectors, ELMo, both, or neither.

sentences -> static vectors, one per file ---------------+-> input  [x ; ELMo]   what the first RNN reads
          -> encoder, frozen and remembered, or trained  |
             -> one scalar mix for each place -----------+-> output [h ; ELMo]   what is added to the RNN's output

Source: paper section 3.3.
"""

import copy
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional

from elmo.embed.embedder import Embedder
from elmo.embed.encoder import Encoder
from elmo.errors import ConfigError
from elmo.layer import on_engine
from elmo.model.bilm import BiLM, BiLMOutput
from elmo.model.scalar_mix import ScalarMix
from elmo.ops.dropout import Dropout
from elmo.setting_checks import require_setting
from elmo.static.vectors import StaticVectors, vectors_for_words
from elmo.tasks.settings import TokenSettings
from elmo.tasks.tokens.frozen_layers import FrozenLayers
from elmo.tasks.tokens.static_embedding import StaticEmbedding


class LiveLayers(nn.Module):
    """A biLM that is trained with the task: sentences -> all layers, with gradients to every weight of it."""

    def __init__(self, bilm: BiLM) -> None:
        super().__init__()
        self.bilm = bilm.requires_grad_(True)

    def forward(self, sentences: Sequence[Sequence[str]]) -> BiLMOutput:
        """Boundaries included; each distinct token is encoded once."""
        is_trained = any(parameter.requires_grad for parameter in self.bilm.parameters())
        # Without gradients the engine reads, which is many times as fast: in the epochs before the first is unfrozen.
        with torch.set_grad_enabled(torch.is_grad_enabled() and is_trained):
            return on_engine.read(self.bilm, [list(sentence) for sentence in sentences])

    def layers(self) -> list[list[nn.Parameter]]:
        """The weights of each layer, both directions together: the top layer first, the token layer last."""
        levels = zip(*(lstm.layers for lstm in self.bilm.lstms), strict=True)
        return [
            [parameter for module in level for parameter in module.parameters()]
            for level in [*reversed(list(levels)), [self.bilm.token_encoder]]
        ]


class LayerMixes(nn.Module):
    """Layers of a batch of any encoder -> a mix of them for each place, with dropout: the learned part of `ELMo`."""

    def __init__(self, settings: TokenSettings, encoder: Encoder) -> None:
        super().__init__()
        self.before = int(encoder.keep_boundaries)
        """Positions before a sentence's first token, and behind its last one."""
        self.strength = settings.mix_penalty
        self.dropout = Dropout(settings.elmo_dropout)
        self.by_place = nn.ModuleDict(
            {
                place: ScalarMix.of_layers(
                    settings.mixed_layers,
                    encoder.num_layers,
                    layer_norm=False if settings.layer_norm == "none" else settings.layer_norm,
                    train_gamma=settings.train_gamma,
                )
                for place in settings.places
            }
        )

    def forward(
        self, output: BiLMOutput, mask: Bool[Tensor, "batch tokens"]
    ) -> dict[str, Float[Tensor, "batch tokens dim"]]:
        """The mix of each place; zero where `mask`, true at a token, is false."""
        layers = output.layers
        # Boundaries count only for layer norms that are defined so; "words" leaves them out.
        counted = functional.pad(mask, (self.before, self.before))
        mixes = {}
        for place, mix in self.by_place.items():
            mixed = mix(layers, counted)[:, self.before : layers.shape[2] - self.before]
            mixes[place] = self.dropout(torch.where(mask[:, :, None], mixed, 0))
        return mixes

    def penalty(self) -> Float[Tensor, ""]:
        """lambda times the sum of the squared raw weights of all mixes that are learned."""
        return self.strength * torch.stack([mix.penalty() for mix in self._mixes()]).sum()

    def weights(self) -> list[dict[str, Any]]:
        """For each place its "placement", the normalized "weights", lowest layer first, and its "gamma"."""
        return [
            {"placement": place, "weights": mix.weights.tolist(), "gamma": mix.gamma.item()}
            for place, mix in zip(self.by_place, self._mixes(), strict=True)
        ]

    def _mixes(self) -> list[ScalarMix]:
        return [mix for mix in self.by_place.values() if isinstance(mix, ScalarMix)]


Sentences = Sequence[Sequence[str]]


@dataclass(frozen=True)
class TokenSources:
    """Where the vectors of tokens come from: what all seeds of a training share."""

    frozen: FrozenLayers | None = None
    """The encoder; None without one."""
    static: Mapping[str, StaticVectors] | None = None
    """Static vectors by name (`TokenSettings.static_files`); None: there are none."""
    train_words: Collection[str] = ()
    """The words of the training data, whose static vectors are trained if the settings say so."""

    @classmethod
    def of(
        cls,
        frozen: FrozenLayers | None,
        settings: TokenSettings,
        sentences: Iterable[list[str]],
        trained: Iterable[list[str]],
    ) -> "TokenSources":
        """An encoder, and the static vectors that the settings name. `sentences`: all of the data; `trained`: those
        whose words may be trained. Raises as `vectors_for_words`."""
        if not settings.static:
            return cls(frozen)
        counts = Counter(word for sentence in sentences for word in sentence)
        found = {
            name: vectors_for_words(file, limit=settings.static_words, counts=counts, errors=settings.static_errors)
            for name, file in settings.static_files.items()
        }
        return cls(frozen, found, sorted({word for sentence in trained for word in sentence}))


@dataclass(frozen=True)
class TokenVectors:
    """A batch's vectors; zero where `mask` is false."""

    static: Mapping[str, Float[Tensor, "batch tokens _"]]
    """Static vectors by the name of their file, in the order of the setting; each (batch, tokens, dim of the file)."""
    elmo: Mapping[str, Float[Tensor, "batch tokens elmo_dim"]]
    """ELMo by place; a place where it isn't added is missing."""
    mask: Bool[Tensor, "batch tokens"]
    """True at a token."""

    @property
    def input(self) -> Float[Tensor, "batch tokens input_dim"]:
        """[static vectors ; ELMo of the place "input"]; `input_dim` may be 0."""
        parts = [*self.static.values(), *([self.elmo["input"]] if "input" in self.elmo else [])]
        return torch.cat(parts, dim=2) if parts else self.mask.new_zeros((*self.mask.shape, 0), dtype=torch.float32)

    @property
    def output(self) -> Float[Tensor, "batch tokens elmo_dim"] | None:
        """ELMo of the place "output"; None if it isn't added there."""
        return self.elmo.get("output")

    def with_output(self, hidden: Float[Tensor, "batch tokens hidden"]) -> Float[Tensor, "batch tokens dim"]:
        """[hidden ; ELMo of the place "output"]: what follows the task's first RNN."""
        return hidden if self.output is None else torch.cat([hidden, self.output], dim=2)


class TokenRepresentation(nn.Module):
    """Sentences -> `TokenVectors`. Several sentences of an example (a question, a passage) share its mixes."""

    def __init__(self, settings: TokenSettings, sources: TokenSources | None = None) -> None:
        """`sources`: its `frozen` encoder is needed unless the settings say encoder="none"; with `train_bilm`, a copy
        of its biLM is trained. Raises ConfigError if settings and sources don't fit."""
        super().__init__()
        sources = sources or TokenSources()
        fits = (settings.encoder == "none") == (sources.frozen is None)
        require_setting(fits, "encoder", settings.encoder, "'none' exactly where `sources` has no encoder")
        self.settings = settings
        trained = sources.train_words if settings.train_static else ()
        static = sources.static or {}
        self.static = nn.ModuleDict()
        self.static.update({name: StaticEmbedding(vectors, trained) for name, vectors in static.items()})
        self.frozen = sources.frozen
        self.live: LiveLayers | None = None
        self.mixes: LayerMixes | None = None
        if sources.frozen is not None:
            self.mixes = LayerMixes(settings, sources.frozen.encoder)
            if settings.train_bilm:
                own = sources.frozen.bilm
                self.live = LiveLayers(BiLM(own.config, own.token_map) if settings.new_bilm else copy.deepcopy(own))
        # Moves with the model: where vectors are wanted, also when there is neither ELMo nor a static vector.
        self.register_buffer("_position", torch.zeros(0), persistent=False)

    @property
    def device(self) -> torch.device:
        """Where the vectors will be."""
        return self.get_buffer("_position").device

    @property
    def static_dims(self) -> dict[str, int]:
        """Dimensions of the static vectors by the name of their file."""
        return {name: embedding.dim for name, embedding in self.static_embeddings().items()}

    def elmo_dim(self, place: str) -> int:
        """Dimensions of ELMo at a place; 0 if it isn't added there."""
        return self.frozen.encoder.layer_dim if self.frozen is not None and place in self.settings.places else 0

    @property
    def input_dim(self) -> int:
        """Dimensions of `TokenVectors.input`; may be 0."""
        return sum(self.static_dims.values()) + self.elmo_dim("input")

    def require_forward(self, reader: str) -> None:
        """ConfigError unless the encoder is a language model in the forward direction. `reader`: what needs it."""
        encoder = None if self.frozen is None else self.frozen.encoder
        direction = encoder.bilm.config.direction if isinstance(encoder, Embedder) else "unknown"
        if direction != "forward":
            raise ConfigError(
                f"{reader} needs a forward language model, but the encoder's direction is {direction}. Pass one with "
                "--model; 'elmo pretrain configs/pretrain/words-forward.toml' trains one."
            )

    def trained_layers(self) -> list[list[nn.Parameter]]:
        """The weights of each layer of a biLM that is trained, the top layer first; empty without one."""
        return [] if self.live is None else self.live.layers()

    @property
    def output_dim(self) -> int:
        """Dimensions of `TokenVectors.output`; 0 if there is none."""
        return self.elmo_dim("output")

    def forward(self, sentences: Sentences) -> TokenVectors:
        """A batch's vectors. An empty sentence has no true position in the mask."""
        mask = mask_of(sentences).to(self.device)
        static = {name: embedding(sentences) for name, embedding in self.static_embeddings().items()}
        elmo = self._elmo(sentences, mask)
        # Vectors are stored in float32, and a model around them may compute in another type.
        dtype = self.get_buffer("_position").dtype
        static, elmo = ({name: part.to(dtype) for name, part in parts.items()} for parts in (static, elmo))
        return TokenVectors(static, elmo, mask)

    def penalty(self) -> Float[Tensor, ""]:
        """What the mixes add to the loss; 0 unless they are learned."""
        return self.get_buffer("_position").new_zeros(()) if self.mixes is None else self.mixes.penalty()

    def mix_weights(self) -> list[dict[str, Any]]:
        """`LayerMixes.weights`; empty without ELMo."""
        return [] if self.mixes is None else self.mixes.weights()

    def static_embeddings(self) -> dict[str, StaticEmbedding]:
        """The tables of static vectors by the name of their file."""
        return {name: table for name, table in self.static.items() if isinstance(table, StaticEmbedding)}

    def _elmo(
        self, sentences: Sentences, mask: Bool[Tensor, "batch tokens"]
    ) -> dict[str, Float[Tensor, "batch tokens elmo_dim"]]:
        if self.mixes is None or self.frozen is None:
            return {}
        output = self.frozen.batch(sentences, self.device) if self.live is None else self.live(sentences)
        return self.mixes(output, mask)


def mask_of(sentences: Sentences) -> Bool[Tensor, "batch tokens"]:
    """True where a sentence has a token."""
    lengths = torch.tensor([len(sentence) for sentence in sentences], dtype=torch.int64)
    return torch.arange(int(lengths.max()) if len(lengths) else 0)[None, :] < lengths[:, None]
