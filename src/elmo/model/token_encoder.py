"""TokenEncoder: a token's characters (and its word, if the model has words) -> its context-insensitive vector.

Source: paper section 3.4; bilm-tf `bilm/model.py`; ELMoForManyLangs `modules/token_embedder.py` for words beside
characters; Srivastava et al. 2015 for the highway layers. Characters -> convolutions -> maximum over positions ->
highway layers -> projection. Initial values for training from scratch: bilm-tf, as listed in the specification, 2.4.
"""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from elmo.config import BiLMConfig
from elmo.errors import ConfigError
from elmo.ops.char_cnn import CharacterVectors, activate, best_windows, character_vectors
from elmo.ops.tracing import has_values


class Highway(nn.Module):
    """y = g * relu(W_t x + b_t) + (1 - g) * x with g = sigmoid(W_g x + b_g).

    The inner non-linearity is always relu, regardless of the char CNN's. A new layer starts near the identity
    (gate bias -2).
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self.transform = nn.Linear(size, size)
        self.gate = nn.Linear(size, size)
        for layer, bias in ((self.transform, 0.0), (self.gate, -2.0)):
            nn.init.normal_(layer.weight, 0, math.sqrt(1 / size))
            nn.init.constant_(layer.bias, bias)

    def forward(self, inputs: Float[Tensor, "types size"]) -> Float[Tensor, "types size"]:
        """One layer."""
        gate = torch.sigmoid(self.gate(inputs))
        return gate * torch.relu(self.transform(inputs)) + (1 - gate) * inputs


class Convolution(nn.Module):
    """The filters of one width."""

    def __init__(self, width: int, number: int, dim: int, activation: str) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(number, dim, width))
        self.bias = nn.Parameter(torch.zeros(number))
        if activation == "relu":
            nn.init.uniform_(self.weight, -0.05, 0.05)
        else:
            nn.init.normal_(self.weight, 0, math.sqrt(1 / (width * dim)))

    def forward(self, characters: CharacterVectors) -> Float[Tensor, "types filters"]:
        """Each filter's maximum over all positions, before the activation."""
        return best_windows(characters, self.weight) + self.bias


# Ids wrap around in these.
_NARROW = (torch.uint8, torch.int8)


class TokenEncoder(nn.Module):
    """Ids of characters and words -> token vectors. Each token is on its own: nothing here sees a sentence."""

    def __init__(self, config: BiLMConfig) -> None:
        super().__init__()
        self.config = config
        if config.has_characters:
            characters = torch.empty(config.num_characters, config.character_dim).uniform_(-1, 1)
            characters[0] = 0  # padding
            self.character_embedding = nn.Parameter(characters)
            self.convolutions = nn.ModuleList(
                Convolution(width, number, config.character_dim, config.activation) for width, number in config.filters
            )
            self.highways = nn.ModuleList(Highway(config.num_filters) for _ in range(config.num_highway))
        if config.has_words:
            words = nn.init.xavier_uniform_(torch.empty(config.num_words, config.word_dim))
            words[0] = 0
            self.word_embedding = nn.Parameter(words)
        if config.token_projection:
            self.projection = nn.Linear(config.token_features, config.projection_size)
            nn.init.normal_(self.projection.weight, 0, math.sqrt(1 / config.token_features))
            nn.init.zeros_(self.projection.bias)

    def forward(
        self,
        character_ids: Int[Tensor, "types characters"] | None,
        word_ids: Int[Tensor, " types"] | None = None,
    ) -> Float[Tensor, "types projection"]:
        """One vector for each token. Raises ConfigError if ids are missing or of another model."""
        self.require_ids(character_ids, word_ids)
        parts = []
        if self.config.has_words and word_ids is not None:
            parts.append(functional.embedding(_wide(word_ids), self.word_embedding))
        if self.config.has_characters and character_ids is not None:
            parts.append(self._from_characters(_wide(character_ids)))
        features = torch.cat(parts, dim=1) if len(parts) > 1 else parts[0]
        return self.projection(features) if self.config.token_projection else features

    def require_ids(
        self,
        character_ids: Int[Tensor, "*shape characters"] | None,
        word_ids: Int[Tensor, "*shape"] | None,
        *,
        looks: bool = False,
    ) -> None:
        """Raises ConfigError unless the ids this model reads are there, and as many per token as it takes.

        `looks`: and known to it. An id without a row would end the whole process on a GPU, without naming the id, but
        to look at a GPU's ids makes the host wait for it.
        """
        config, characters = self.config, self.config.max_characters_per_token
        for kind, ids, rows, width in (
            ("character", character_ids, config.num_characters if config.has_characters else 0, characters),
            ("word", word_ids, config.num_words, 0),
        ):
            if not rows:
                continue
            fits = ids is not None and (not width or (ids.shape[-1] == width and ids.dtype not in _NARROW))
            seen = (0, 0)
            if ids is not None and fits and looks and ids.numel() and has_values(ids):
                seen = int(ids.min()), int(ids.max())
            if not (fits and 0 <= seen[0] <= seen[1] < rows):
                found = None if ids is None else f"{ids.dtype} of shape {tuple(ids.shape)}, {seen[0]} to {seen[1]}"
                raise ConfigError(
                    f"{kind}_ids is {found}, but this model takes ids from 0 to {rows - 1}, of torch.int16 or wider, "
                    f"{width or 'one'} for each token. Make them with this model's own character_ids() or TokenMap."
                )

    def _from_characters(self, character_ids: Int[Tensor, "types characters"]) -> Float[Tensor, "types filters"]:
        widths = [one.weight.shape[2] for one in self.convolutions if isinstance(one, Convolution)]
        # A module in the place of a convolution may look at every column.
        widest = max(widths) if len(widths) == len(self.convolutions) else character_ids.shape[1]
        characters = character_vectors(character_ids, self.character_embedding, widest)
        best = [convolution(characters) for convolution in self.convolutions]
        features = activate(torch.cat(best, dim=1), self.config.activation)
        for highway in self.highways:
            features = highway(features)
        return features


def _wide(ids: Int[Tensor, "*shape"]) -> Int[Tensor, "*shape"]:
    """Ids as torch's embedding takes them."""
    return ids.int() if ids.dtype == torch.int16 else ids
