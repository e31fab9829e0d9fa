"""Settings of training GloVe's vectors; the defaults are its own program's."""

from dataclasses import dataclass
from typing import Annotated

from elmo.setting_checks import NotNegativeInt, Positive, PositiveInt, Seed, Settings, from_to

_Number = Annotated[int, from_to(1, 10_000)]


@dataclass(frozen=True)
class GloveSettings(Settings):
    """How GloVe's vectors are trained."""

    dim: _Number = 100
    """Dimensions of a vector."""
    min_count: PositiveInt = 5
    """Words that occur less often get no vector."""
    max_words: NotNegativeInt = 0
    """The most frequent words only; 0: all."""
    window: Annotated[int, from_to(1, 63)] = 10
    """How many words to each side count as near."""
    epochs: _Number = 15
    """Passes over the counts."""
    learning_rate: Positive = 0.05
    """AdaGrad's rate."""
    lower_case: bool = False
    """Whether words are lower-cased first."""
    x_max: Positive = 100.0
    """Pairs at least this frequent have full weight."""
    alpha: float = 0.75
    """The weight of rarer pairs is (count / x_max) ** alpha."""
    seed: Seed = 0
    """Seed of all random choices."""
