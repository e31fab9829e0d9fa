"""Settings of training static vectors; the defaults are those of the methods' own programs."""

from dataclasses import dataclass
from typing import Any, Literal

from elmo.errors import ConfigError

Kind = Literal["word2vec", "fasttext", "glove"]

# Without a flag: word2vec's own (its paper's and program's), fastText's, GloVe's.
_EPOCHS = {"word2vec": 5, "fasttext": 5, "glove": 15}
_WINDOWS = {"word2vec": 5, "fasttext": 5, "glove": 10}
_LEARNING_RATES = {"skipgram": 0.025, "cbow": 0.05, "glove": 0.05}


@dataclass(frozen=True)
class StaticSettings:
    """How static vectors are trained. What only one method has says so, and is left alone by the others."""

    kind: Kind = "word2vec"
    """word2vec and fasttext: a word tells its neighbors from random words (by gensim: pip install 'pyelmo[static]');
    glove: two vectors' product is the logarithm of how often their words stand near each other."""
    dim: int = 100
    """Numbers of a vector."""
    min_count: int = 5
    """Words rarer than this have no vector."""
    max_words: int = 0
    """The most frequent words only; 0: all."""
    window: int = 0
    """How many words to each side are near; 0: 5, glove 10."""
    epochs: int = 0
    """Passes over the text (glove: over the counts); 0: 5, glove 15."""
    learning_rate: float = 0.0
    """At its highest; 0: 0.025, cbow and glove 0.05."""
    lower_case: bool = False
    """Whether words are lower-cased first."""
    architecture: Literal["skipgram", "cbow"] = "skipgram"
    """word2vec, fasttext: skipgram: a word tells each of its neighbors; cbow: all neighbors together tell the word."""
    negatives: int = 5
    """word2vec, fasttext: random words for each true one."""
    subsample: float = 1e-3
    """word2vec, fasttext: words with a larger share of the text are left out by chance, the more the more frequent."""
    min_ngram: int = 3
    """fasttext: the shortest parts of words that have vectors."""
    max_ngram: int = 6
    """fasttext: the longest; 0: none."""
    buckets: int = 2_000_000
    """fasttext: vectors that the parts share."""
    x_max: float = 100.0
    """glove: pairs that are this frequent have full weight."""
    alpha: float = 0.75
    """glove: the weight of rarer pairs is (count / x_max) ** alpha."""
    seed: int = 0
    """Of all random choices."""

    def __post_init__(self) -> None:
        for name in ("dim", "min_count"):
            _require(getattr(self, name) >= 1, name, getattr(self, name), "1 or more")
        for name in ("max_words", "window", "epochs", "learning_rate", "subsample", "negatives", "max_ngram", "seed"):
            _require(getattr(self, name) >= 0, name, getattr(self, name), "0 or more")
        _require(self.x_max > 0, "x_max", self.x_max, "above 0")
        _require(self.buckets >= 1, "buckets", self.buckets, "1 or more")
        _require(self.num_window < 1 << 6, "window", self.window, "below 64")
        _require(self.seed < 1 << 32, "seed", self.seed, "below 2 ** 32")

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


def _require(condition: bool, name: str, value: Any, expected: str) -> None:
    if not condition:
        raise ConfigError(f"{name} is {value!r}, but must be {expected}. Change it or leave it out.")
