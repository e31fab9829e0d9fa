"""Settings of sentence classification; the defaults are those of McCann et al. 2017 where a CPU allows it."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from elmo.setting_checks import Chance, Must, require_setting
from elmo.tasks.settings import CharacterSettings, FitSettings, LabelSettings, Size, TaskSettings

_EACH = Must("from 0 to below 1 each", lambda chances: all(0 <= chance < 1 for chance in chances))


@dataclass(frozen=True)
class ClassifierSettings(LabelSettings, CharacterSettings):
    """Data and network of the classifier."""

    layout: Literal["auto", "trees", "tsv"] = "auto"
    """Format of the files. trees: one labelled tree per line, as in the Stanford Sentiment Treebank; tsv: tab-separated
    columns, or JSON lines with label and text; auto: detected from the first line."""
    label_column: Size = 1
    """tsv: column of the labels, counted from 1. A first line with the names label and text says itself which columns
    they are."""
    text_column: Size = 2
    """tsv: column of the sentences, counted from 1."""
    header: bool = False
    """tsv: whether the first line has the names of the columns."""
    text_tokenizer: str = "whitespace"
    """tsv: how sentences are split into tokens. whitespace; unicode: by rules, for text that isn't tokenized; or
    module:function, a function of your own."""
    phrases: Literal["none", "distinct", "all"] = "distinct"
    """trees: which labelled phrases are training examples in addition to the sentences. none; distinct: each phrase
    once, however often it occurs in the data; all: as often as it occurs (the original's way)."""
    min_phrase_tokens: Size = 4
    """trees: shorter phrases are not used as training examples. The paper's value is 4; 1 includes single words."""
    network: Literal["biattentive", "last_state"] = "biattentive"
    """What classifies. biattentive: the network of McCann et al. 2017; last_state: a hidden layer on the state of a
    forward language model after the sentence, as in Dai and Le 2015. Of the settings below, last_state has hidden_size
    and pooled_dropout."""
    hidden_size: Size = 100
    """Units of the first layer, and of each biLSTM in each direction. The original has 300."""
    input_dropout: Chance = 0.25
    """Dropout on the tokens' vectors (after ELMo's own dropout)."""
    projection_dropout: Chance = 0.25
    """Dropout after the first layer."""
    pooled_dropout: Chance = 0.1
    """Dropout on the sentence's vector."""
    head: Literal["maxout", "relu"] = "maxout"
    """Last layers. maxout: as McCann et al. 2017; relu: as the ELMo paper."""
    head_dropouts: Annotated[tuple[float, ...], _EACH] = (0.2, 0.3)
    """Dropout of each layer before the last one; each layer is half as wide as the previous one."""
    maxout_pieces: Size = 4
    """maxout: number of linear functions over which the maximum is taken."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_setting(
            self.label_column != self.text_column, "text_column", self.text_column, "another one than label_column"
        )
        chances = self.head_dropouts
        narrowest = self.hidden_size * 8 >> len(chances)
        require_setting(narrowest >= 1, "head_dropouts", chances, f"fewer: after {len(chances)} layers no unit is left")


@dataclass(frozen=True)
class SstSettings(TaskSettings):
    """All settings of `elmo task train sst`."""

    fit: FitSettings = field(default_factory=lambda: FitSettings(epochs=20, patience=3, batch_size=100))
    classifier: ClassifierSettings = field(default_factory=ClassifierSettings)
