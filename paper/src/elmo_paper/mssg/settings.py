"""Settings of training MSSG's vectors; the defaults are its authors' program's."""

from dataclasses import dataclass
from typing import Annotated

from elmo.setting_checks import Must, NotNegative, NotNegativeInt, Positive, PositiveInt, Seed, Settings, from_to

_Number = Annotated[int, from_to(1, 10_000)]


@dataclass(frozen=True)
class MSSGSettings(Settings):
    """How sense vectors are trained."""

    dim: _Number = 100
    """Dimensions of a vector."""
    min_count: PositiveInt = 5
    """Words that occur less often get no vector."""
    max_words: NotNegativeInt = 0
    """The most frequent words only; 0: all."""
    window: Annotated[int, from_to(1, 63)] = 5
    """How many words to each side count as near, at most: for each token, a number up to this is drawn."""
    epochs: _Number = 1
    """Passes over the text."""
    learning_rate: Positive = 0.025
    """AdaGrad's rate."""
    lower_case: bool = False
    """Whether words are lower-cased first."""
    negatives: _Number = 1
    """Random words for each true one."""
    subsample: NotNegative = 1e-3
    """Occurrences of words with a larger share of the text are dropped at random, the more frequent the word the more
    of them. 0: none is dropped."""
    senses: Annotated[int, from_to(0, 1_000)] = 0
    """Number of vectors for a frequent word; 0: 3, or up to 10 with new_sense_below."""
    new_sense_below: Annotated[float | None, Must("a cosine: from -1 to 1", lambda it: it is None or -1 <= it <= 1)] = (
        None
    )
    """Words begin with one sense and get another when a context's cosine with every sense so far is below this, for
    instance -0.5 (NP-MSSG); without it, all have the same number of senses."""
    sense_words: NotNegativeInt = 4_000
    """How many of the most frequent words have several senses."""
    seed: Seed = 0
    """Seed of all random choices."""

    @property
    def num_senses(self) -> int:
        """`senses`, or the method's own."""
        return self.senses or (3 if self.new_sense_below is None else 10)
