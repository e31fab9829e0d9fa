"""Settings of training static vectors; the defaults are the original programs'."""

from dataclasses import dataclass
from typing import Annotated, Literal

from elmo.setting_checks import NotNegative, NotNegativeInt, PositiveInt, Settings, from_to, require_setting

Kind = Literal["word2vec", "fasttext"]

_LEARNING_RATES = {"skipgram": 0.025, "cbow": 0.05}
# More is a typing error, and would run for years or out of memory.
_MOST = 10_000


@dataclass(frozen=True)
class StaticSettings(Settings):
    """How static vectors are trained, by gensim: a word predicts its neighbors against random words."""

    kind: Kind = "word2vec"
    """word2vec: a vector for each word; fasttext: the sum of the vectors of a word's parts, too."""
    dim: Annotated[int, from_to(1, _MOST)] = 100
    """Dimensions of a vector."""
    min_count: PositiveInt = 5
    """Words that occur less often get no vector."""
    max_words: NotNegativeInt = 0
    """The most frequent words only; 0: all."""
    window: Annotated[int, from_to(1, _MOST)] = 5
    """How many words to each side count as near."""
    epochs: Annotated[int, from_to(1, _MOST)] = 5
    """Passes over the text."""
    learning_rate: NotNegative = 0.0
    """The peak rate; 0: 0.025, cbow 0.05."""
    lower_case: bool = False
    """Whether words are lower-cased first."""
    architecture: Literal["skipgram", "cbow"] = "skipgram"
    """skipgram: a word predicts each of its neighbors; cbow: all neighbors together predict the word."""
    negatives: Annotated[int, from_to(1, _MOST)] = 5
    """Random words for each true one."""
    subsample: NotNegative = 1e-3
    """Occurrences of words with a larger share of the text are dropped at random, the more frequent the word the more
    of them."""
    min_ngram: PositiveInt = 3
    """fasttext: length of the shortest parts of words that have vectors; at most max_ngram."""
    max_ngram: Annotated[int, from_to(0, 1_000)] = 6
    """fasttext: length of the longest; 0: none."""
    buckets: Annotated[int, from_to(1, 1 << 31)] = 2_000_000
    """fasttext: vectors that the parts share."""
    seed: Annotated[int, from_to(0, (1 << 32) - 1)] = 0
    """Seed of all random choices."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_ngram > 0:
            expected = f"at most max_ngram, which is {self.max_ngram} (0: no parts of words)"
            require_setting(self.min_ngram <= self.max_ngram, "min_ngram", self.min_ngram, expected)

    @property
    def start_rate(self) -> float:
        """`learning_rate`, or the architecture's own."""
        return self.learning_rate or _LEARNING_RATES[self.architecture]
