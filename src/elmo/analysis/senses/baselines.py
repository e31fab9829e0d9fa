"""What can be answered without any vector: the dictionary's first sense, and the most frequent one in a corpus."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from elmo.analysis.senses.inventory import Inventory, Word
from elmo.analysis.senses.raganato import AnnotatedSentence


@dataclass(frozen=True)
class SeenSenses:
    """How often each sense of a word occurs in a training corpus."""

    counts: Mapping[Word, Mapping[str, int]]
    """Senses in the order of their first occurrence."""

    def most_frequent(self, word: Word) -> str | None:
        """The most frequent sense; of equally frequent ones the first in the corpus. None for an unseen word."""
        found = self.counts.get(word)
        return max(found, key=found.__getitem__) if found else None


def count_senses(sentences: Iterable[AnnotatedSentence], keys: Mapping[str, tuple[str, ...]]) -> SeenSenses:
    """The senses of a training corpus. An instance of several senses counts for each, one without a key not at all."""
    counts: dict[Word, Counter[str]] = {}
    for sentence in sentences:
        for instance in sentence.instances:
            if instance.id in keys:
                counts.setdefault((instance.lemma, instance.pos), Counter()).update(keys[instance.id])
    return SeenSenses(counts)


def most_frequent_or_first(word: Word, seen: SeenSenses, inventory: Inventory) -> str | None:
    """The most frequent sense; the dictionary's first sense for a word that the corpus doesn't have."""
    return seen.most_frequent(word) or inventory.first_sense(word)
