"""Settings of textual entailment; the defaults are the paper's network."""

from dataclasses import dataclass, field
from typing import Literal

from elmo.setting_checks import Chance
from elmo.tasks.settings import FitSettings, LabelSettings, Size, TaskSettings


@dataclass(frozen=True)
class EntailmentSettings(LabelSettings):
    """Data and network of ESIM."""

    text_tokenizer: str = "unicode"
    """How sentences without a parse are split into tokens. unicode: by rules; whitespace: their tokens are separated by
    spaces; or module:function, a function of your own."""
    premises: Literal["read", "hide"] = "read"
    """hide: the network reads only the hypotheses. Its score then shows how much the hypotheses give away about the
    labels."""
    hidden_size: Size = 300
    """Units of both biLSTMs in each direction, and of both linear layers."""
    dropout: Chance = 0.5
    """Dropout on the tokens' vectors, the comparisons and their projections (one mask for all tokens of a sentence),
    and in the classifier."""


@dataclass(frozen=True)
class SnliSettings(TaskSettings):
    """All settings of `elmo task train snli`."""

    fit: FitSettings = field(
        default_factory=lambda: FitSettings(
            epochs=15, patience=4, batch_size=32, learning_rate=0.0004, decay="halve", max_length=100
        )
    )
    entailment: EntailmentSettings = field(default_factory=EntailmentSettings)
