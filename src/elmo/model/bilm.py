"""BiLM: the pretrained network. Source: paper section 3.1; AllenNLP `allennlp/modules/elmo.py` for its behavior.

character_ids (batch, tokens, characters)
    -> TokenEncoder        (batch, tokens + 2, projection)        with <S> and </S>
    -> forward language model, backward language model            each a ProjectedLSTM
    -> layers              (layers + 1, batch, tokens + 2, dim)   layer 0 is the token vector, once per direction
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor, nn
from torch.nn import functional

from elmo.config import BiLMConfig
from elmo.errors import ConfigError
from elmo.model.projected_lstm import ProjectedLSTM, ProjectedLSTMLayer
from elmo.model.token_encoder import TokenEncoder
from elmo.ops.tracing import has_values
from elmo.text.token_map import TokenMap
from elmo.weights import formats, hub
from elmo.weights.checkpoint import Checkpoint
from elmo.weights.native.facts import byte_map
from elmo.weights.native.write import write as write_checkpoint


class BiLMState(NamedTuple):
    """The state of the LSTMs for each row: both directions concatenated, the forward one first."""

    hidden: Float[Tensor, "layers batch projections"]
    cell: Float[Tensor, "layers batch cells"]


class BiLMOutput(NamedTuple):
    """Every layer's vectors for a batch, boundaries included."""

    layers: Float[Tensor, "layers batch tokens dim"]
    """Zero where `mask` is false."""
    mask: Bool[Tensor, "batch tokens"]
    """True at a token or a boundary."""
    state: BiLMState
    """After each row's last token."""


class DistinctTokens(NamedTuple):
    """A batch of ids as its distinct tokens, boundaries added."""

    characters: Int[Tensor, "types characters"] | None
    words: Int[Tensor, " types"] | None
    places: Int[Tensor, "batch tokens"]
    """Of each position's token among the distinct ones."""
    lengths: Int[Tensor, " batch"]
    """Tokens of each row and its boundaries."""


class BiLM(nn.Module):
    """A bidirectional language model; `BiLM(config)` has random weights, `BiLM.from_pretrained` published ones."""

    if TYPE_CHECKING:  # nn.Module types __call__ as Any
        __call__: Callable[..., BiLMOutput]

    def __init__(self, config: BiLMConfig, token_map: TokenMap | None = None) -> None:
        super().__init__()
        hub.refuse_name(config, "BiLM", "a BiLMConfig")
        self.config = config
        token_map = token_map or byte_map(config)
        if token_map is None:
            raise ConfigError(
                f"a model with characters={config.characters!r} and {config.num_words} words has no fixed ids. Pass "
                "BiLM(config, token_map)."
            )
        self.token_map = token_map
        self.token_encoder = TokenEncoder(config)
        for direction in config.directions:
            self.add_module(f"{direction}_lstm", ProjectedLSTM(config))

    @classmethod
    def from_pretrained(cls, model: hub.Model = None) -> "BiLM":
        """Loads a model: a name, a folder or file of any published format, or a pair (options.json, weights.hdf5).

        None: the default model. Raises WeightFileError if there is no such model or its files are damaged.
        """
        return cls.from_checkpoint(formats.read(hub.resolve(model)))

    @classmethod
    def from_checkpoint(cls, checkpoint: Checkpoint) -> "BiLM":
        """The network with a copy of a checkpoint's weights, which must have exactly this network's tensors."""
        with torch.device("meta"):
            bilm = cls(checkpoint.config, checkpoint.token_map)
        # Copies: two networks of one checkpoint must not train each other's weights.
        tensors = {name: torch.tensor(array, device="cpu") for name, array in checkpoint.tensors.items()}
        bilm.load_state_dict(tensors, strict=True, assign=True)
        return bilm.eval()

    def to_checkpoint(
        self,
        *,
        vocabulary: list[str] | None = None,
        softmax: dict[str, Float[np.ndarray, "..."]] | None = None,
        metadata: dict[str, str] | None = None,
    ) -> Checkpoint:
        """A copy of the weights as data, float32; other fields of `Checkpoint` can be passed along."""
        tensors = {name: tensor.detach().cpu().float().numpy().copy() for name, tensor in self.state_dict().items()}
        return Checkpoint(
            self.config, tensors, self.token_map, vocabulary=vocabulary, softmax=softmax, metadata=metadata or {}
        )

    def save_pretrained(self, folder: str | Path, *, force: bool = False) -> None:
        """Writes the model folder, without softmax, vocabulary and warm state; whole or not at all.

        `force`: replaces an existing model folder, whose softmax, vocabulary and warm state are gone then.
        """
        write_checkpoint(self.to_checkpoint(), Path(folder), force=force)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self._some_weight.device

    @property
    def _some_weight(self) -> Tensor:
        # Not the first of parameters(): a replica of nn.DataParallel has tensors in their places.
        return cast(ProjectedLSTMLayer, self.lstms[0].layers[0]).bias

    @property
    def lstms(self) -> list[ProjectedLSTM]:
        """The language model of each direction, in the order of `config.directions`."""
        return [getattr(self, f"{direction}_lstm") for direction in self.config.directions]

    def zero_state(self, batch: int) -> BiLMState:
        """The state before the first token: zeros, for `batch` rows."""
        config, directions = self.config, len(self.config.directions)
        like = self._some_weight
        return BiLMState(
            like.new_zeros(config.num_layers, batch, directions * config.projection_size),
            like.new_zeros(config.num_layers, batch, directions * config.cell_size),
        )

    def token_vectors(
        self, character_ids: Int[Tensor, "*shape characters"] | None, word_ids: Int[Tensor, "*shape"] | None = None
    ) -> Float[Tensor, "*shape projection"]:
        """The context-insensitive token representation of each token; boundaries are ordinary tokens here."""
        shaped = word_ids if character_ids is None else character_ids[..., 0]
        assert shaped is not None  # every model reads one of them at least
        characters = None if character_ids is None else character_ids.reshape(-1, character_ids.shape[-1])
        words = None if word_ids is None else word_ids.reshape(-1)
        return self.token_encoder(characters, words).view(*shaped.shape, self.config.projection_size)

    def contextualize(
        self,
        vectors: Float[Tensor, "batch tokens projection"],
        lengths: Int[Tensor, " batch"],
        state: BiLMState | None = None,
        *,
        padded: bool = False,
    ) -> BiLMOutput:
        """Token vectors, boundaries included -> all layers. A row's tokens beyond its length are ignored.

        `state`: what each row starts from (None: zeros). `padded`, without gradients: every row is computed at every
        step and no length is looked at, so that a GPU can record the operations; otherwise rows that have ended cost
        nothing. Raises ConfigError for lengths or a state that don't fit.
        """
        batch, tokens = vectors.shape[:2]
        state = state if state is not None else self.zero_state(batch)
        self._require_fitting(vectors, lengths, state, looks=not padded)
        mask = torch.arange(tokens, device=vectors.device)[None, :] < lengths[:, None]
        vectors = torch.where(mask[:, :, None], vectors, 0)
        hidden_parts = state.hidden.chunk(len(self.lstms), dim=2)
        cell_parts = state.cell.chunk(len(self.lstms), dim=2)
        by_direction, hiddens, cells = [], [], []
        for direction, lstm, hidden, cell in zip(
            self.config.directions, self.lstms, hidden_parts, cell_parts, strict=True
        ):
            turn = _reverser(lengths, tokens) if direction == "backward" else lambda values: values
            outputs, hidden, cell = lstm(turn(vectors), lengths, hidden, cell, padded)
            by_direction.append([vectors, *(turn(output) for output in outputs)])
            hiddens.append(hidden)
            cells.append(cell)
        layers = torch.stack([torch.cat(parts, dim=2) for parts in zip(*by_direction, strict=True)])
        return BiLMOutput(layers, mask, BiLMState(torch.cat(hiddens, dim=2), torch.cat(cells, dim=2)))

    def _require_fitting(
        self,
        vectors: Float[Tensor, "batch tokens _"],
        lengths: Shaped[Tensor, "..."],
        state: BiLMState,
        looks: bool,
    ) -> None:
        batch, tokens, _ = vectors.shape
        fits = lengths.shape == (batch,) and not lengths.is_floating_point() and lengths.dtype != torch.bool
        if fits and looks and has_values(lengths) and batch:
            fits = 0 <= int(lengths.min()) <= int(lengths.max()) <= tokens
        found, needed = ([tuple(part.shape) for part in one] for one in (state, self.zero_state(batch)))
        if not fits or found != needed:
            raise ConfigError(
                f"the lengths {lengths} and the state shapes {found} don't fit {batch} rows of {tokens} vectors. "
                f"Pass the tokens of each row, its boundaries included, and a state of {needed} (hidden, cell)."
            )

    def vectors_of(self, tokens: Sequence[str]) -> Float[Tensor, "types projection"]:
        """`token_vectors` of tokens as text; boundary tokens are recognized by their spelling."""
        return self.token_vectors(*self._ids_of(tokens))

    def forward(
        self,
        character_ids: Int[Tensor, "batch tokens characters"] | None,
        word_ids: Int[Tensor, "batch tokens"] | None = None,
        state: BiLMState | None = None,
    ) -> BiLMOutput:
        """Ids without boundaries, 0 where a row has no token, from any device -> all layers of tokens + 2 positions.

        Each distinct token is encoded once. Raises ConfigError if the ids don't fit this model, or if a row has
        tokens after its padding.
        """
        distinct = self.distinct_tokens(character_ids, word_ids)
        vectors = self.token_vectors(distinct.characters, distinct.words)
        return self.contextualize(functional.embedding(distinct.places, vectors), distinct.lengths, state)

    def distinct_tokens(
        self, character_ids: Int[Tensor, "batch tokens characters"] | None, word_ids: Int[Tensor, "batch tokens"] | None
    ) -> DistinctTokens:
        """Ids as `forward` takes them -> the distinct tokens, whose vectors are computed once; checked."""
        self.token_encoder.require_ids(character_ids, word_ids, looks=True)
        ids = self._columns(character_ids, word_ids)
        lengths = _lengths(ids)
        begin, end = (
            row.expand(len(ids), 1, -1) for row in self._columns(*self._ids_of(self.token_map.boundary_tokens))
        )
        ids = torch.cat([begin, ids, end], dim=1)
        positions = torch.arange(ids.shape[1], device=ids.device)
        ids = torch.where((positions == (lengths + 1)[:, None])[:, :, None], end, ids)
        flat = ids.flatten(0, 1)
        if has_values(flat):
            flat, places = flat.unique(dim=0, return_inverse=True)
        else:
            places = torch.arange(len(flat), device=flat.device)
        return DistinctTokens(*self._parts(flat), places.view(ids.shape[:2]), lengths + 2)

    def _ids_of(
        self, tokens: Sequence[str]
    ) -> tuple[Int[Tensor, "types characters"] | None, Int[Tensor, " types"] | None]:
        ids = self.token_map.ids(tokens)
        characters = None if ids.characters is None else torch.from_numpy(ids.characters).to(self.device)
        words = None if ids.words is None else torch.from_numpy(ids.words).to(self.device)
        return characters, words

    def _columns(
        self, character_ids: Int[Tensor, "*shape characters"] | None, word_ids: Int[Tensor, "*shape"] | None
    ) -> Int[Tensor, "*shape numbers"]:
        """All the ids of a token side by side, so that tokens can be compared as rows."""
        characters = character_ids if self.config.has_characters else None
        words = word_ids[..., None] if self.config.has_words and word_ids is not None else None
        parts = [part.to(self.device, torch.int64) for part in (characters, words) if part is not None]
        return torch.cat(parts, dim=-1)

    def _parts(
        self, columns: Int[Tensor, "*shape numbers"]
    ) -> tuple[Int[Tensor, "*shape characters"] | None, Int[Tensor, "*shape"] | None]:
        """The reverse of `_columns`."""
        width = self.config.max_characters_per_token
        characters = columns[..., :width] if self.config.has_characters else None
        return characters, columns[..., -1] if self.config.has_words else None


def _lengths(ids: Int[Tensor, "batch tokens numbers"]) -> Int[Tensor, " batch"]:
    present = (ids > 0).any(dim=2)
    gaps = (present[:, 1:] & ~present[:, :-1]).any(dim=1)
    if has_values(gaps) and bool(gaps.any()):
        raise ConfigError(
            f"row {int(gaps.nonzero()[0])} of the ids has a token after one of zeros, which pad. An empty token "
            "has ids of its own: make them with character_ids()."
        )
    return present.sum(dim=1)


def _reverser(
    lengths: Int[Tensor, " batch"], tokens: int
) -> Callable[[Float[Tensor, "batch tokens projection"]], Float[Tensor, "batch tokens projection"]]:
    """Reverses every row within its own length; padding stays at the end. Its own inverse."""
    steps = torch.arange(tokens, device=lengths.device)
    within = torch.where(steps < lengths[:, None], lengths[:, None] - 1 - steps, steps)
    source = (within + tokens * torch.arange(len(lengths), device=lengths.device)[:, None]).flatten()

    def turn(values: Float[Tensor, "batch tokens projection"]) -> Float[Tensor, "batch tokens projection"]:
        # Whole rows by one index: many times as fast as `gather`, which looks up every value.
        return values.flatten(0, 1).index_select(0, source).view(values.shape)

    return turn
