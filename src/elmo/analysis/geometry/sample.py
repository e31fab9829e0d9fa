"""Which words and tokens of a text are measured: drawn once from the text alone, the same for every encoder."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from elmo.errors import TextError
from elmo.setting_checks import require_seed, require_setting, require_types


@dataclass(frozen=True)
class Sample:
    """What is measured of a text."""

    sentences: Sequence[tuple[str, ...]]
    words: dict[str, int]
    """Words in enough different sentences -> their rows."""
    token_of: Int[np.ndarray, " sentences"]
    """A token of each sentence, drawn at random."""
    kept: frozenset[int]
    """The sentences whose drawn token's vector is kept, for what sums can't give."""
    explained: frozenset[str]
    """The words whose occurrences' vectors are kept."""


@dataclass(frozen=True)
class SampleSettings:
    """How much is measured."""

    least_sentences: int = 5
    """A word is measured if it stands in so many different sentences."""
    tokens: int = 10_000
    """Tokens of different sentences for anisotropy, norms and CKA."""
    words: int = 500
    """Words for the maximum explainable variance."""
    occurrences: int = 50
    """Occurrences of each of these words at most: the first ones."""
    seed: int = 0

    def __post_init__(self) -> None:
        require_types(self)
        for name in ("least_sentences", "tokens", "words", "occurrences"):
            require_setting(getattr(self, name) >= 1, name, getattr(self, name), "1 or more")
        require_seed(self.seed)


DEFAULTS = SampleSettings()


def drawn(sentences: Sequence[tuple[str, ...]], settings: SampleSettings = DEFAULTS) -> Sample:
    """The sample. Equal sentences are measured once; raises TextError if fewer than two different ones have tokens."""
    different = list(dict.fromkeys(one for one in sentences if one))
    if len(different) < 2:
        raise TextError(
            "the text has fewer than two different sentences with tokens, so there are no pairs to compare. Name a "
            "longer text."
        )
    random = np.random.default_rng(settings.seed)
    token_of = np.array([random.integers(len(one)) for one in different])
    kept = random.permutation(len(different))[: settings.tokens]
    counts = Counter(word for one in different for word in dict.fromkeys(one))
    words = [word for word, count in counts.items() if count >= settings.least_sentences]
    explained = random.permutation(len(words))[: settings.words]
    return Sample(
        different,
        {word: row for row, word in enumerate(words)},
        token_of,
        frozenset(map(int, kept)),
        frozenset(words[place] for place in explained),
    )
