"""Settings of training context2vec; the defaults are its authors'."""

from dataclasses import dataclass

from elmo.setting_checks import require_setting, require_types


@dataclass(frozen=True)
class Context2VecSettings:
    """How context2vec is trained."""

    unit: int = 300
    """Dimensions of a word's embedding; LSTMs, contexts and target vectors have twice as many."""
    deep: bool = True
    """Whether a hidden layer joins both directions; otherwise each has a projection of its own."""
    min_count: int = 3
    """Words that occur less often are one unknown word."""
    lower_case: bool = True
    """Whether words are lower-cased first."""
    epochs: int = 10
    """Passes over the text."""
    batch_sentences: int = 100
    """Sentences of a step, all of the same length."""
    longest: int = 128
    """Tokens; longer sentences are left out."""
    negatives: int = 10
    """Random words for each true one, drawn by their frequency to the power 0.75."""
    learning_rate: float = 1e-3
    """Of Adam."""
    clip_norm: float = 5.0
    """Longer gradients are scaled to this global norm; without it training can diverge."""
    seed: int = 0
    """Seed of all random choices."""

    def __post_init__(self) -> None:
        require_types(self)
        for name in ("unit", "min_count", "epochs", "batch_sentences", "negatives"):
            require_setting(1 <= getattr(self, name) <= 100_000, name, getattr(self, name), "from 1 to 100,000")
        require_setting(self.longest >= 2, "longest", self.longest, "2 or more")
        for name in ("learning_rate", "clip_norm"):
            value = getattr(self, name)
            require_setting(value > 0, name, value, "above 0")
        require_setting(0 <= self.seed < 1 << 32, "seed", self.seed, "from 0 to 2 ** 32 - 1")
