"""Settings of coreference; the defaults follow the paper's model, except where a CPU is too slow."""

import re
from dataclasses import dataclass, field
from typing import Annotated, Literal

from elmo.errors import ConfigError
from elmo.setting_checks import Chance, Must, NotNegative, NotNegativeInt
from elmo.tasks.settings import (
    LARGEST_SIZE,
    FileSettings,
    FitSettings,
    Size,
    SizeOrNone,
    Sizes,
    TaskSettings,
    TokenSettings,
)

# As many as the widest mention has tokens: no more begin at a token.
_PerToken = Annotated[float, Must(f"above 0, to {LARGEST_SIZE}", lambda value: 0 < value <= LARGEST_SIZE)]


@dataclass(frozen=True)
class ResolverSettings(FileSettings):
    """Data and network of the coreference model."""

    genre_pattern: str = r"(?:GUM_)?([a-z]+)[/_]"
    """Regular expression that matches the beginning of a document's name; its first group is the genre ("nw/...",
    "GUM_news_"). Names without a match share one genre. Empty: the genre is not used as a feature."""
    text_tokenizer: Literal["unicode", "whitespace"] = "unicode"
    """How raw text is split into tokens if the command line doesn't say."""
    speakers: bool = True
    """Whether the model has a feature for two spans having the same speaker."""
    max_width: Size = 10
    """Maximum length of a mention in tokens."""
    spans_per_token: _PerToken = 0.25
    """Number of candidate spans to keep, per token of the document."""
    max_antecedents: Size = 100
    """Maximum number of preceding kept spans that are considered as a span's antecedent."""
    hidden_size: Size = 100
    """Hidden units of the LSTM in each direction."""
    span_hidden_sizes: Sizes = (100, 100)
    """Hidden units of each layer of the networks that score spans and pairs."""
    feature_size: Size = 20
    """Dimensions of the vectors of width, speaker, genre and distance."""
    lexical_dropout: Chance = 0.5
    """Dropout on the input of the LSTM and of the span heads."""
    lstm_dropout: Chance = 0.2
    """Dropout on the LSTM's previous state and on its output."""
    span_dropout: Chance = 0.2
    """Dropout on the features and hidden layers of the scorers."""
    character_filters: SizeOrNone = 30
    """Number of filters of each width in the char CNN; 0: no char CNN."""
    character_widths: Sizes = (3, 4, 5)
    """Widths of the filters in characters."""
    character_vector: Size = 8
    """Dimensions of a character's vector."""
    normalize_static: bool = True
    """Whether each static vector is divided by its length."""
    window_sentences: NotNegativeInt = 40
    """Maximum number of consecutive sentences of a document to train on in one step; the window is drawn anew in each
    step. 0: all."""
    window_tokens: NotNegativeInt = 2000
    """Maximum number of tokens of a document to train on in one step, but at least one sentence. 0: no limit."""
    mention_loss: NotNegative = 0.0
    """Weight of a loss that teaches which candidate spans are mentions. If above 0, spans that look like mentions but
    are linked to no other are written as clusters of one, for data such as LitBank, which annotate them."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.genre_pattern:
            return
        try:
            num_groups, problem = re.compile(self.genre_pattern).groups, "it has no group"
        except re.error as error:
            num_groups, problem = 0, str(error)
        if not num_groups:
            raise ConfigError(
                f"genre_pattern is {self.genre_pattern!r}, which can't be used: {problem}. Give a regular expression "
                "with a group in round brackets, or leave it empty."
            )

    def genre_of(self, name: str) -> str:
        """The genre of a document of that name; "" if it has none."""
        match = re.match(self.genre_pattern, name) if self.genre_pattern else None
        return match[1] or "" if match else ""


@dataclass(frozen=True)
class CorefSettings(TaskSettings):
    """All settings of `elmo task train coref`."""

    tokens: TokenSettings = field(default_factory=lambda: TokenSettings(mix_penalty=0.0, elmo_dropout=0.0))
    fit: FitSettings = field(default_factory=lambda: FitSettings(epochs=15, patience=4, batch_size=1))
    resolver: ResolverSettings = field(default_factory=ResolverSettings)


NO_HEADS = (
    "the coreference model would have nothing to describe the heads of spans with: there are no static vectors and no "
    "char CNN. Give it one of them, for instance --character-filters 30."
)
