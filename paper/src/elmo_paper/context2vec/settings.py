"""Settings of training context2vec; the defaults are its authors'."""

from dataclasses import dataclass
from typing import Annotated

from elmo.setting_checks import Positive, Seed, Settings, at_least, from_to

_Number = Annotated[int, from_to(1, 100_000)]


@dataclass(frozen=True)
class Context2VecSettings(Settings):
    """How context2vec is trained."""

    unit: _Number = 300
    """Dimensions of a word's embedding; LSTMs, contexts and target vectors have twice as many."""
    deep: bool = True
    """Whether a hidden layer joins both directions; otherwise each has a projection of its own."""
    min_count: _Number = 3
    """Words that occur less often are one unknown word."""
    lower_case: bool = True
    """Whether words are lower-cased first."""
    epochs: _Number = 10
    """Passes over the text."""
    batch_sentences: _Number = 100
    """Sentences of a step, all of the same length."""
    longest: Annotated[int, at_least(2)] = 128
    """Tokens; longer sentences are left out."""
    negatives: _Number = 10
    """Random words for each true one, drawn by their frequency to the power 0.75."""
    learning_rate: Positive = 1e-3
    """Of Adam."""
    clip_norm: Positive = 5.0
    """Longer gradients are scaled to this global norm; without it training can diverge."""
    seed: Seed = 0
    """Seed of all random choices."""
