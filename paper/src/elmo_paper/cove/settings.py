"""Settings of training CoVe's translation system; the defaults are its authors'."""

from dataclasses import dataclass
from typing import Annotated

from elmo.setting_checks import Chance, NotNegative, Positive, PositiveInt, Settings, from_to, require_setting

_Number = Annotated[int, from_to(1, 100_000)]


@dataclass(frozen=True)
class CoVeSettings(Settings):
    """How the translation system is trained."""

    cells: _Number = 300
    """Cells per direction of the encoder; a layer's vector and each decoder layer have twice as many."""
    max_words: Annotated[int, from_to(1, 10_000_000)] = 50_000
    """Maximum number of target words, the most frequent ones; all others are one unknown word."""
    min_count: _Number = 1
    """Target words that occur less often are unknown, too."""
    longest: Annotated[int, from_to(1, 1000)] = 50
    """Training pairs with more tokens than this on either side are left out."""
    dropout: Chance = 0.2
    """Dropout on word vectors, between layers, and on the outputs of encoder and attention."""
    epochs: PositiveInt = 30
    """Maximum number of passes over the pairs."""
    batch_pairs: _Number = 64
    """Pairs in a step; their source sentences have about the same length."""
    learning_rate: Positive = 1.0
    """Learning rate of plain gradient descent; halved after each epoch that doesn't lower the dev perplexity."""
    least_learning_rate: NotNegative = 0.03
    """Training ends when the learning rate falls below it; at most learning_rate."""
    clip_norm: Positive = 5.0
    """Longer gradients are scaled to this global norm."""
    seed: Annotated[int, from_to(0, (1 << 32) - 1)] = 0
    """Seed of all random choices."""

    def __post_init__(self) -> None:
        super().__post_init__()
        least, first = self.least_learning_rate, self.learning_rate
        require_setting(least <= first, "least_learning_rate", least, f"at most learning_rate, which is {first}")
