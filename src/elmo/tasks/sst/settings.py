"""Settings of sentence classification; the defaults are specification 7.7's where a CPU allows it."""

from dataclasses import dataclass, field
from typing import Literal

from elmo.tasks.settings import FitSettings, TokenSettings, require, require_choices


@dataclass(frozen=True)
class ClassifierSettings:
    """Data and network of the classifier."""

    layout: Literal["auto", "trees", "tsv"] = "auto"
    """Of the files. trees: a labelled tree a line, as in the Stanford Sentiment Treebank; tsv: tab-separated columns;
    auto: found out from the first line."""
    label_column: int = 1
    """tsv: column of the labels, counted from 1."""
    text_column: int = 2
    """tsv: column of the sentences, counted from 1."""
    header: bool = False
    """tsv: whether the first line is names of columns."""
    text_tokenizer: str = "whitespace"
    """tsv: how sentences become tokens: whitespace; unicode: by rules, for text that isn't tokenized; or
    module:function of your own."""
    phrases: Literal["none", "distinct", "all"] = "distinct"
    """trees: which labelled phrases are training examples beside the sentences: none; distinct: each phrase once,
    however often it stands in the data; all: as often as it stands there (the original's way)."""
    min_phrase_tokens: int = 4
    """trees: shorter phrases are no training examples. 4 is the paper's, 1 takes single words too."""
    encoding: str = "utf-8"
    """What the files are written in."""
    unseen_labels: Literal["stop", "miss"] = "stop"
    """What a label does that isn't in the training data: stop, or count as one that can't be found."""
    hidden_size: int = 100
    """Units of the first layer, and of each biLSTM and direction. The original has 300."""
    input_dropout: float = 0.25
    """Chance of each number of a token's vectors to become 0 in training (ELMo's own dropout comes before)."""
    projection_dropout: float = 0.25
    """The same behind the first layer."""
    pooled_dropout: float = 0.1
    """The same of the sentence's vector."""
    head: Literal["maxout", "relu"] = "maxout"
    """Last layers. maxout: as McCann et al. 2017; relu: as the ELMo paper."""
    head_dropouts: tuple[float, ...] = (0.2, 0.3)
    """Of each layer before the last one; each has half the width of the layer before."""
    maxout_pieces: int = 4
    """maxout: how many numbers the largest is taken of."""

    def __post_init__(self) -> None:
        require_choices(self)
        for name in ("label_column", "text_column", "min_phrase_tokens", "hidden_size", "maxout_pieces"):
            require(getattr(self, name) >= 1, name, getattr(self, name), "a whole number from 1 on")
        require(self.label_column != self.text_column, "text_column", self.text_column, "another one than label_column")
        for name in ("input_dropout", "projection_dropout", "pooled_dropout"):
            require(0 <= getattr(self, name) < 1, name, getattr(self, name), "a chance: at least 0 and below 1")
        chances = self.head_dropouts
        require(all(0 <= chance < 1 for chance in chances), "head_dropouts", chances, "chances: from 0 to below 1")


@dataclass(frozen=True)
class Settings:
    """All settings of `elmo task train sst`."""

    tokens: TokenSettings = field(default_factory=TokenSettings)
    classifier: ClassifierSettings = field(default_factory=ClassifierSettings)
    fit: FitSettings = field(default_factory=lambda: FitSettings(epochs=20, patience=3, batch_size=100))
