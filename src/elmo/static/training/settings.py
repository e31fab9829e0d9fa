"""Settings of training static vectors; the defaults are the original programs'."""

from dataclasses import dataclass
from typing import Literal

from elmo.setting_checks import require_setting, require_types

Kind = Literal["word2vec", "fasttext", "glove"]

# The original programs' defaults.
_EPOCHS = {"word2vec": 5, "fasttext": 5, "glove": 15}
_WINDOWS = {"word2vec": 5, "fasttext": 5, "glove": 10}
_LEARNING_RATES = {"skipgram": 0.025, "cbow": 0.05, "glove": 0.05}
# More is a typing error, and would run for years or out of memory.
_MOST = {"dim": 10_000, "epochs": 10_000, "negatives": 10_000, "max_ngram": 1_000, "buckets": 1 << 31}


@dataclass(frozen=True)
class StaticSettings:
    """How static vectors are trained. A setting that only some methods use names them; the others ignore it, and 'elmo
    static' refuses it."""

    kind: Kind = "word2vec"
    """word2vec and fasttext: a word predicts its neighbors against random words (by gensim: pip install
    'pyelmo[static]'); glove: two vectors' product is the logarithm of how often their words occur near each other."""
    dim: int = 100
    """Dimensions of a vector."""
    min_count: int = 5
    """Words that occur less often have no vector."""
    max_words: int = 0
    """The most frequent words only; 0: all."""
    window: int = 0
    """How many words to each side count as near; 0: 5, glove 10."""
    epochs: int = 0
    """Passes over the text (glove: over the counts); 0: 5, glove 15."""
    learning_rate: float = 0.0
    """The peak rate; 0: 0.025, cbow and glove 0.05."""
    lower_case: bool = False
    """Whether words are lower-cased first."""
    architecture: Literal["skipgram", "cbow"] = "skipgram"
    """word2vec, fasttext: skipgram: a word predicts each of its neighbors; cbow: all neighbors together predict the
    word."""
    negatives: int = 5
    """word2vec, fasttext: random words for each true one."""
    subsample: float = 1e-3
    """word2vec, fasttext: occurrences of words with a larger share of the text are dropped at random, the more frequent
    the word the more of them."""
    min_ngram: int = 3
    """fasttext: length of the shortest parts of words that have vectors; at most max_ngram."""
    max_ngram: int = 6
    """fasttext: length of the longest; 0: none."""
    buckets: int = 2_000_000
    """fasttext: vectors that the parts share."""
    x_max: float = 100.0
    """glove: pairs at least this frequent have full weight."""
    alpha: float = 0.75
    """glove: the weight of rarer pairs is (count / x_max) ** alpha."""
    seed: int = 0
    """Seed of all random choices."""

    def __post_init__(self) -> None:
        require_types(self)
        for name, most in _MOST.items():
            require_setting(getattr(self, name) <= most, name, getattr(self, name), f"at most {most:,}")
        for name in ("dim", "min_count", "negatives", "min_ngram"):
            require_setting(getattr(self, name) >= 1, name, getattr(self, name), "at least 1")
        for name in ("max_words", "window", "epochs", "learning_rate", "subsample", "max_ngram", "seed"):
            require_setting(getattr(self, name) >= 0, name, getattr(self, name), "at least 0")
        if self.max_ngram > 0:
            expected = f"at most max_ngram, which is {self.max_ngram} (0: no parts of words)"
            require_setting(self.min_ngram <= self.max_ngram, "min_ngram", self.min_ngram, expected)
        require_setting(self.x_max > 0, "x_max", self.x_max, "above 0")
        require_setting(self.buckets >= 1, "buckets", self.buckets, "at least 1")
        require_setting(self.num_window < 1 << 6, "window", self.window, "below 64")
        require_setting(self.seed < 1 << 32, "seed", self.seed, "below 2 ** 32")

    @property
    def num_window(self) -> int:
        """`window`, or the method's own."""
        return self.window or _WINDOWS[self.kind]

    @property
    def num_epochs(self) -> int:
        """`epochs`, or the method's own."""
        return self.epochs or _EPOCHS[self.kind]

    @property
    def start_rate(self) -> float:
        """`learning_rate`, or the method's own."""
        return self.learning_rate or _LEARNING_RATES["glove" if self.kind == "glove" else self.architecture]
