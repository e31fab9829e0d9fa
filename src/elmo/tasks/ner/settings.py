"""Settings of named entity recognition; the defaults are specification 7.6's where a CPU allows it."""

from dataclasses import dataclass, field
from typing import Literal

from elmo.tasks.settings import FitSettings, TokenSettings, require, require_choices


@dataclass(frozen=True)
class TaggerSettings:
    """Data and network of the tagger."""

    token_column: int = 1
    """Column of the tokens, counted from 1."""
    tag_column: int = 0
    """Column of the tags, counted from 1; 0: the last one."""
    scheme: Literal["auto", "iob1", "iob2", "ioe", "bioul", "any"] = "auto"
    """Scheme of the files' tags. auto: found out from them; any: every sequence is taken, by conlleval's rules."""
    encoding: str = "utf-8"
    """What the files are written in."""
    unseen_labels: Literal["stop", "miss"] = "stop"
    """What an entity does whose label isn't in the training data: stop, or count as one that can't be found."""
    tagger_scheme: Literal["bioul", "iob2", "iob1"] = "bioul"
    """Scheme that the tagger works in."""
    hidden_sizes: tuple[int, ...] = (200, 100)
    """Hidden units of each biLSTM layer and direction, the lowest first."""
    dropout: float = 0.5
    """On each biLSTM layer's input and on the top output, the same for all tokens of a sentence."""
    character_filters: int = 128
    """Filters of the char CNN; 0: no char CNN."""
    character_width: int = 3
    """Characters that a filter sees."""
    character_vector: int = 16
    """Numbers of a character's vector."""

    def __post_init__(self) -> None:
        require_choices(self)
        require(all(size >= 1 for size in self.hidden_sizes), "hidden_sizes", self.hidden_sizes, "numbers from 1 on")
        require(len(self.hidden_sizes) >= 1, "hidden_sizes", self.hidden_sizes, "at least one number")
        require(0 <= self.dropout < 1, "dropout", self.dropout, "a chance: at least 0 and below 1")
        require(self.character_width >= 1, "character_width", self.character_width, "a number from 1 on")
        require(self.character_vector >= 1, "character_vector", self.character_vector, "a number from 1 on")
        for name in ("character_filters", "token_column", "tag_column"):
            require(getattr(self, name) >= 0, name, getattr(self, name), "0 or more")


@dataclass(frozen=True)
class Settings:
    """All settings of `elmo task train ner`."""

    tokens: TokenSettings = field(
        default_factory=lambda: TokenSettings(mix_penalty=0.1, elmo_dropout=0.0, train_static=True)
    )
    tagger: TaggerSettings = field(default_factory=TaggerSettings)
    fit: FitSettings = field(default_factory=FitSettings)
