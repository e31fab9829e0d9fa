"""Language: whether a text is in the language of a model's vocabulary, by two cheap signals.

script        most letters of the text belong to a script that the vocabulary hardly has
common words  hardly any word of the text is among the vocabulary's most frequent ones, which in any language are the
              words that every text has

Measured with the bundled models: of the words of an English text, 47% (medicine) to 71% (novels) are among the 1,000
most frequent words of small-en; of a Korean text about technology, 27% are among those of small-ko; of German, French
and Spanish text, 4% to 8% are among those of small-en.
"""

import itertools
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache

from elmo.text.reading.as_trained import Marks, plain_marks

_COMMON_WORDS = 1000
_LEAST_SHARE_OF_COMMON = 0.12
_FEWEST_WORDS = 30
_FEWEST_LETTERS = 8
# Of the letters in the vocabulary of small-ko 1.6% are Latin: names and abbreviations in an encyclopedia.
_LEAST_SHARE_OF_SCRIPT = 0.05


class Language:
    """A model's vocabulary, as texts are compared with it."""

    def __init__(self, vocabulary: Sequence[str] | None) -> None:
        """`vocabulary`: words, the most frequent first, as in a model's vocabulary file; None: nothing is known."""
        self._vocabulary = vocabulary or ()

    @cached_property
    def marks(self) -> Marks:
        """The typographic marks that the model reads as plain ones."""
        return plain_marks(self._vocabulary)

    @cached_property
    def words(self) -> frozenset[str]:
        """All words."""
        return frozenset(self._vocabulary)

    @cached_property
    def _scripts(self) -> Counter[str]:
        return _scripts(self._vocabulary)

    @cached_property
    def _common(self) -> frozenset[str]:
        return frozenset(itertools.islice((word for word in self._vocabulary if word.isalpha()), _COMMON_WORDS))

    @property
    def has_words(self) -> bool:
        """Whether most of its most frequent entries are words, which of a model of proteins are letters."""
        return bool(self._common) and sum(len(word) > 1 for word in self._common) > len(self._common) / 2

    def why_foreign(self, sentences: Iterable[Sequence[str]]) -> str | None:
        """What shows that the sentences are in another language than the vocabulary; None: nothing does.

        Texts of a few letters or words are not judged, and the second signal needs a vocabulary that is much larger
        than its common words.
        """
        if not self._vocabulary:
            return None
        words = [word for sentence in sentences for word in sentence if any(map(str.isalpha, word))]
        return self._by_script(words) or self._by_common_words(words)

    def _by_script(self, words: Sequence[str]) -> str | None:
        scripts = _scripts(words)
        if scripts.total() < _FEWEST_LETTERS:
            return None
        script, count = scripts.most_common(1)[0]
        share, known = count / scripts.total(), self._scripts
        if share < 0.5 or not known or known[script] / known.total() >= _LEAST_SHARE_OF_SCRIPT:
            return None
        return (
            f"{share:.0%} of its letters are {script.title()}, of the letters in the model's vocabulary "
            f"{known[script] / known.total():.1%}"
        )

    def _by_common_words(self, words: Sequence[str]) -> str | None:
        if len(words) < _FEWEST_WORDS or len(self._vocabulary) < 2 * _COMMON_WORDS:
            return None
        share = sum(word in self._common or word.lower() in self._common for word in words) / len(words)
        if share >= _LEAST_SHARE_OF_COMMON:
            return None
        return (
            f"{share:.0%} of its words are among the {_COMMON_WORDS:,} most frequent words of the model's vocabulary; "
            "in the model's language far more would be"
        )


def _scripts(words: Iterable[str]) -> Counter[str]:
    found: Counter[str] = Counter()
    for character, count in Counter(itertools.chain.from_iterable(words)).items():
        if script := _script(character):
            found[script] += count
    return found


@lru_cache(1 << 16)
def _script(character: str) -> str | None:
    """The script of a letter: the first word of its Unicode name, such as LATIN, HANGUL or CJK; None: no letter."""
    if not character.isalpha():
        return None
    return unicodedata.name(character, "").partition(" ")[0] or None
