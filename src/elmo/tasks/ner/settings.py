"""Settings of named entity recognition; the defaults are the paper's where a CPU allows it."""

from dataclasses import dataclass, field
from typing import Literal

from elmo.setting_checks import Chance
from elmo.tasks.settings import CharacterSettings, LabelSettings, SizeOrNone, Sizes, TaskSettings, TokenSettings

SchemeChoice = Literal["auto", "iob1", "iob2", "ioe", "bioul", "io", "any"]
BETWEEN = "between"
"""The place between the first and the second biLSTM layer. Source: Peters et al. 2017, TagLM."""


@dataclass(frozen=True)
class TaggerSettings(LabelSettings, CharacterSettings):
    """Data and network of the tagger."""

    token_column: SizeOrNone = 1
    """Column of the tokens, counted from 1."""
    tag_column: SizeOrNone = 0
    """Column of the tags, counted from 1; 0: the last one."""
    scheme: SchemeChoice = "auto"
    """Scheme of the tags in the files. auto: detected; bioul: also known as IOBES, BMES or BMEWO; io: labels
    without prefixes; any: every sequence is accepted and read by conlleval's rules."""
    hidden_sizes: Sizes = (200, 100)
    """Hidden units of each biLSTM layer in each direction, from the lowest layer to the highest."""
    dropout: Chance = 0.5
    """Dropout on each biLSTM layer's input and on the output of the top one, with the same mask for all tokens of a
    sentence."""
    character_filters: SizeOrNone = 128
    """Filters of the model's own char CNN, which is trained with the task; 0: no char CNN."""


@dataclass(frozen=True)
class NerSettings(TaskSettings):
    """All settings of `elmo task train ner`."""

    tokens: TokenSettings = field(
        default_factory=lambda: TokenSettings(mix_penalty=0.1, elmo_dropout=0.0, train_static=True)
    )
    tagger: TaggerSettings = field(default_factory=TaggerSettings)
