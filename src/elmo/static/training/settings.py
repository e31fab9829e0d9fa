"""Settings of training static vectors; the defaults are the original programs'."""

from dataclasses import dataclass
from typing import Annotated, Literal

from elmo.setting_checks import (
    Must,
    NotNegative,
    NotNegativeInt,
    Positive,
    PositiveInt,
    Settings,
    from_to,
    require_setting,
)

Kind = Literal["word2vec", "fasttext", "glove", "mssg"]

# The original programs' defaults.
_EPOCHS = {"word2vec": 5, "fasttext": 5, "glove": 15, "mssg": 1}
_WINDOWS = {"word2vec": 5, "fasttext": 5, "glove": 10, "mssg": 5}
_LEARNING_RATES = {"skipgram": 0.025, "cbow": 0.05, "glove": 0.05, "mssg": 0.025}
# More is a typing error, and would run for years or out of memory.
_MOST = 10_000


@dataclass(frozen=True)
class StaticSettings(Settings):
    """How static vectors are trained. A setting that only some kinds use names them; the others ignore it."""

    kind: Kind = "word2vec"
    """word2vec and fasttext: a word predicts its neighbors against random words (by gensim: pip install
    'pyelmo[static]'); glove: two vectors' product is the logarithm of how often their words occur near each other;
    mssg: skip-gram with several vectors for each frequent word; each occurrence's context chooses one. The file has a
    format of its own."""
    dim: Annotated[int, from_to(1, _MOST)] = 100
    """Dimensions of a vector."""
    min_count: PositiveInt = 5
    """Words that occur less often get no vector."""
    max_words: NotNegativeInt = 0
    """The most frequent words only; 0: all."""
    window: NotNegativeInt = 0
    """How many words to each side count as near; 0: 5, glove 10. mssg: for each token, a number up to this is drawn."""
    epochs: Annotated[int, from_to(0, _MOST)] = 0
    """Passes over the text (glove: over the counts); 0: 5, glove 15, mssg 1."""
    learning_rate: NotNegative = 0.0
    """The peak rate; 0: 0.025, cbow and glove 0.05."""
    lower_case: bool = False
    """Whether words are lower-cased first."""
    architecture: Literal["skipgram", "cbow"] = "skipgram"
    """word2vec, fasttext: skipgram: a word predicts each of its neighbors; cbow: all neighbors together predict the
    word."""
    negatives: Annotated[int, from_to(0, _MOST)] = 0
    """word2vec, fasttext, mssg: random words for each true one; 0: 5, mssg 1."""
    subsample: NotNegative = 1e-3
    """word2vec, fasttext, mssg: occurrences of words with a larger share of the text are dropped at random, the more
    frequent the word the more of them."""
    min_ngram: PositiveInt = 3
    """fasttext: length of the shortest parts of words that have vectors; at most max_ngram."""
    max_ngram: Annotated[int, from_to(0, 1_000)] = 6
    """fasttext: length of the longest; 0: none."""
    buckets: Annotated[int, from_to(1, 1 << 31)] = 2_000_000
    """fasttext: vectors that the parts share."""
    x_max: Positive = 100.0
    """glove: pairs at least this frequent have full weight."""
    alpha: float = 0.75
    """glove: the weight of rarer pairs is (count / x_max) ** alpha."""
    senses: Annotated[int, from_to(0, 1_000)] = 0
    """mssg: number of vectors for a frequent word; 0: 3, or up to 10 with new_sense_below."""
    new_sense_below: Annotated[float | None, Must("a cosine: from -1 to 1", lambda it: it is None or -1 <= it <= 1)] = (
        None
    )
    """mssg: words begin with one sense and get another when a context's cosine with every sense so far is below this,
    for instance -0.5 (NP-MSSG); without it, all have the same number of senses."""
    sense_words: NotNegativeInt = 4_000
    """mssg: how many of the most frequent words have several senses."""
    seed: Annotated[int, from_to(0, (1 << 32) - 1)] = 0
    """Seed of all random choices."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_ngram > 0:
            expected = f"at most max_ngram, which is {self.max_ngram} (0: no parts of words)"
            require_setting(self.min_ngram <= self.max_ngram, "min_ngram", self.min_ngram, expected)
        require_setting(self.num_window < 1 << 6, "window", self.window, "below 64")

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
        method = self.architecture if self.kind in ("word2vec", "fasttext") else self.kind
        return self.learning_rate or _LEARNING_RATES[method]

    @property
    def num_negatives(self) -> int:
        """`negatives`, or the method's own."""
        return self.negatives or (1 if self.kind == "mssg" else 5)

    @property
    def num_senses(self) -> int:
        """`senses`, or the method's own."""
        return self.senses or (3 if self.new_sense_below is None else 10)
