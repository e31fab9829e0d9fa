"""Settings of tagging each token by itself."""

from dataclasses import dataclass, field

from elmo.setting_checks import Chance
from elmo.tasks.settings import CharacterSettings, LabelSettings, SizeOrNone, Sizes, TaskSettings

AUTO = "auto"


@dataclass(frozen=True)
class TokenTaggerSettings(LabelSettings, CharacterSettings):
    """Data and network of the tagger."""

    tag_column: str = AUTO
    """Column of the tags: its name in a CoNLL-U file (upos, xpos, deprel, feats), or its number, counted from 1.
    auto: upos in a CoNLL-U file. In other files, auto is the other one of two columns, and 0 the last one."""
    token_column: SizeOrNone = 0
    """Column of the tokens, counted from 1; 0: FORM in a CoNLL-U file, the first one in others."""
    hidden_sizes: Sizes = (200,)
    """Hidden units of each biLSTM layer in each direction, from the lowest layer to the highest."""
    dropout: Chance = 0.5
    """Dropout on each biLSTM layer's input and on the output of the top one, with the same mask for all tokens of a
    sentence."""
    character_filters: SizeOrNone = 128
    """Filters of the model's own char CNN, which is trained with the task; 0: no char CNN."""


@dataclass(frozen=True)
class PosSettings(TaskSettings):
    """All settings of `elmo task train pos`."""

    tagger: TokenTaggerSettings = field(default_factory=TokenTaggerSettings)
