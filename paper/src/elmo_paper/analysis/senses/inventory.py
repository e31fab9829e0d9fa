"""The senses of words: those that a dictionary lists, those that a corpus has, and which of them comes first."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from elmo.errors import TextError
from elmo.text.files.lines import utf8_lines
from elmo.text.reading.as_trained import composed
from elmo_paper.analysis.senses.raganato import AnnotatedSentence

Word = tuple[str, str]
"""A lemma with underscores and its part of speech (NOUN, VERB, ADJ, ADV)."""

_COLUMNS = ("lemma", "pos", "rank", "sense_key", "semcor_count")


@dataclass(frozen=True)
class ListedSense:
    """One row of the inventory."""

    key: str
    rank: int
    """1 for what the dictionary lists first."""
    count: int
    """How often SemCor has it, by the dictionary's own count."""


@dataclass(frozen=True)
class Inventory:
    """The senses of each word, in the file's order."""

    senses: Mapping[Word, tuple[ListedSense, ...]]

    def first_sense(self, word: Word) -> str | None:
        """The sense of lowest rank; None if the word isn't listed.

        In Open English WordNet entries that differ in case were merged, so that 668 words have several senses of rank
        1; of these the one that SemCor has most often counts, which makes a baseline up to 3.8 points stronger than
        the first row does.
        """
        listed = self.senses.get(word, ())
        return min(listed, key=lambda sense: (sense.rank, -sense.count)).key if listed else None


def read_inventory(path: Path | str) -> Inventory:
    """A table with tabs between columns, among them lemma, pos, rank, sense_key and semcor_count.

    Raises TextError with file and line for a missing column, a rank that is not a number and what isn't UTF-8.
    """
    senses: dict[Word, list[ListedSense]] = {}
    lines = utf8_lines(path)
    header = next(lines, "").split("\t")
    places = [_place(path, header, column) for column in _COLUMNS]
    for number, line in enumerate(lines, 2):
        if not line.strip():
            continue
        row = composed(line)[0].split("\t")
        try:
            lemma, pos, rank, key, count = (row[place] for place in places)
            senses.setdefault((lemma.replace(" ", "_"), pos), []).append(ListedSense(key, int(rank), int(count)))
        except (IndexError, ValueError):
            raise TextError(
                f"{path}:{number}: {line[:80]!r} is not a sense: rank and semcor_count must be whole numbers, and "
                "every column must be there. Fix the line."
            ) from None
    return Inventory({word: tuple(listed) for word, listed in senses.items()})


def _place(path: Path | str, header: list[str], column: str) -> int:
    if column not in header:
        raise TextError(f"{path}:1: has no column {column!r}, only {', '.join(header[:12])}. Name a sense inventory.")
    return header.index(column)


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
