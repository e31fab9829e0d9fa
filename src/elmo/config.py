"""The architecture of a biLM as plain data.

Source: Peters et al. 2018, section 3.4; the published `options.json` files; ELMoForManyLangs' configuration.
A config says nothing about files: `elmo.weights` translates every published format into one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from operator import index
from typing import Annotated, Any, Literal, NamedTuple, Self

from elmo.errors import ConfigError
from elmo.setting_checks import Positive, Settings, from_to, require_setting

Characters = Literal["bytes", "dictionary", "none"]
Direction = Literal["both", "forward", "backward"]
Activation = Literal["relu", "tanh"]

PUBLISHED_FILTERS = ((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024))

# Rows of a byte-level character embedding: none, 256 bytes, <S>, </S>, begin and end of word, padding inside a word.
NUM_BYTE_CHARACTERS = 262

# A wider or deeper network is a typing error.
_MOST = 1_000_000
_Size = Annotated[int, from_to(1, _MOST)]
_SizeOrNone = Annotated[int, from_to(0, _MOST)]


class LSTMSettings(NamedTuple):
    """The constants of an LSTM layer; a clip of None means no clip."""

    forget_bias: float = 1.0
    cell_clip: float | None = 3.0
    projection_clip: float | None = 3.0


@dataclass(frozen=True)
class BiLMConfig(Settings):
    """Sizes and switches of one biLM. The defaults are the published "original" model's."""

    characters: Characters = "bytes"
    """What the char CNN reads: UTF-8 bytes, the characters of a dictionary, or nothing (a word-embedding model)."""
    num_characters: Annotated[int, from_to(0, 10_000_000)] = NUM_BYTE_CHARACTERS
    """Rows of the character embedding; row 0 is padding and always zero."""
    character_dim: _SizeOrNone = 16
    """Width of a character's vector."""
    max_characters_per_token: _SizeOrNone = 50
    """Characters kept per token, including the begin-of-word and end-of-word characters."""
    filters: tuple[tuple[int, int], ...] = PUBLISHED_FILTERS
    """The char CNN's filters as (width, number)."""
    activation: Activation = "relu"
    """Non-linearity after the maximum over positions."""
    num_highway: Annotated[int, from_to(0, 1000)] = 2
    """Highway layers above the char CNN."""
    token_projection: bool = True
    """Whether a linear layer brings the token vector to `projection_size`."""
    num_words: Annotated[int, from_to(0, 1_000_000_000)] = 0
    """Rows of the word embedding; row 0 is padding and always zero. 0: the model has none."""
    word_dim: _SizeOrNone = 0
    """Width of a word's vector. 0: the model has none."""
    cell_size: _Size = 4096
    """Memory cells of each LSTM layer and direction."""
    projection_size: _Size = 512
    """Width of a token vector and of each direction's output. Equal to `cell_size`: the LSTM has no projection."""
    num_layers: Annotated[int, from_to(1, 1000)] = 2
    """LSTM layers of each direction."""
    cell_clip: Positive | None = 3.0
    """Bound on the absolute value of a memory cell. None: no bound."""
    projection_clip: Positive | None = 3.0
    """Bound on the absolute value of a projected output. None: no bound."""
    skip_connections: bool = True
    """Whether each LSTM layer above the first adds its input to its output."""
    forget_bias: float = 1.0
    """Constant added to the forget gate at run time (bilm-tf: 1; ELMoForManyLangs: 0, it is in the bias)."""
    direction: Direction = "both"
    """Which language models there are."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "filters", filter_pairs(self.filters))
        super().__post_init__()
        for name in ("cell_clip", "projection_clip", "forget_bias"):
            value = getattr(self, name)
            if type(value) is int:  # files write 3 where they mean 3.0
                object.__setattr__(self, name, float(value))
        limit, features, size = self.max_characters_per_token, self.token_features, self.projection_size
        pairs = self.filters if self.has_characters else ((1, 1),)
        widest = max((width for width, _ in pairs), default=0)
        in_range = widest and all(width >= 1 and 1 <= number <= _MOST for width, number in pairs)
        reads = self.has_characters or self.has_words
        is_bytes = self.characters == "bytes"
        rules = {
            "projection_size": (size <= self.cell_size, f"at most cell_size, {self.cell_size}"),
            "characters": (reads, "'bytes' or 'dictionary' without num_words"),
            "word_dim": ((self.num_words > 0) == (self.word_dim > 0), "set together with num_words"),
            "max_characters_per_token": (
                not self.has_characters or limit >= max(3, widest),
                f"at least 3 (begin of word, one character, end of word) and the widest of filters, {widest}",
            ),
            "filters": (in_range, "pairs of numbers from 1 to 1,000,000, at least one"),
            "character_dim": (not self.has_characters or self.character_dim >= 1, "at least 1"),
            "num_characters": (
                not is_bytes or self.num_characters == NUM_BYTE_CHARACTERS,
                f"{NUM_BYTE_CHARACTERS} for a byte-level model",
            ),
            "token_projection": (
                self.token_projection or features == size,
                f"true, because token_features ({features}) isn't projection_size ({size})",
            ),
        }
        for name, (holds, expected) in rules.items():
            require_setting(bool(holds), name, getattr(self, name), expected)

    @property
    def has_characters(self) -> bool:
        """Whether tokens are read by a char CNN."""
        return self.characters != "none"

    @property
    def has_words(self) -> bool:
        """Whether tokens are looked up in a word embedding."""
        return self.num_words > 0

    @property
    def num_filters(self) -> int:
        """Filters of the char CNN, all widths together (0 without a char CNN)."""
        return sum(count for _, count in self.filters) if self.has_characters else 0

    @property
    def token_features(self) -> int:
        """Width of the token encoder's result before its projection."""
        return self.num_filters + self.word_dim

    @property
    def has_lstm_projection(self) -> bool:
        """Whether the LSTM's output is projected from `cell_size` to `projection_size`."""
        return self.projection_size < self.cell_size

    @property
    def lstm_settings(self) -> LSTMSettings:
        """Of each layer."""
        return LSTMSettings(self.forget_bias, self.cell_clip, self.projection_clip)

    @property
    def directions(self) -> tuple[str, ...]:
        """The language models there are, the forward one first."""
        return ("forward", "backward") if self.direction == "both" else (self.direction,)

    @property
    def output_dim(self) -> int:
        """Width of one layer of the result: `projection_size` for each direction."""
        return self.projection_size * len(self.directions)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], source: str = "config") -> Self:
        """The reverse of `dataclasses.asdict`, also after JSON. Errors for unknown and missing keys name `source`."""
        if missing := sorted({field.name for field in fields(cls)} - set(values)):
            raise ConfigError(f"{source}: key {missing[0]!r} of the architecture is missing. Add it.")
        return super().from_dict(values, source)


def filter_pairs(filters: Any) -> tuple[tuple[int, int], ...]:
    """The filters of a char CNN as tuples. ConfigError for what are no pairs of whole numbers."""
    try:
        return tuple((index(width), index(count)) for width, count in filters)
    except (TypeError, ValueError):
        raise ConfigError(
            f"filters must be pairs of whole numbers (got {filters!r:.200}). Write for instance [[1, 32], [2, 64]]."
        ) from None


# The published sizes (allennlp.org/elmo): name -> config.
PUBLISHED_SIZES = {
    "small": BiLMConfig(cell_size=1024, projection_size=128, num_highway=1),
    "medium": BiLMConfig(cell_size=2048, projection_size=256, num_highway=1),
    "original": BiLMConfig(),
}


def published(size: str, **changes: Any) -> BiLMConfig:
    """The config of a published size ("small", "medium", "original"), with `changes`."""
    require_setting(size in PUBLISHED_SIZES, "size", size, f"one of {', '.join(PUBLISHED_SIZES)}")
    return replace(PUBLISHED_SIZES[size], **changes)
