"""The senses that a dictionary lists for each word, and which of them counts as the first."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from elmo.errors import TextError
from elmo.text.formats.lines import utf8_lines

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

    def first_row(self, word: Word) -> str | None:
        """The sense of lowest rank that comes first in the file: the weaker rule, for comparison."""
        listed = self.senses.get(word, ())
        return min(listed, key=lambda sense: sense.rank).key if listed else None


def read_inventory(path: Path | str) -> Inventory:
    """A table with tabs between columns, among them lemma, pos, rank, sense_key and semcor_count.

    Raises TextError with file and line for a missing column, a rank that is not a number and what isn't UTF-8.
    """
    senses: dict[Word, list[ListedSense]] = {}
    lines = utf8_lines(path)
    header = next(lines, "").split("\t")
    places = [_place(path, header, column) for column in _COLUMNS]
    for number, line in enumerate(lines, 2):
        row = line.split("\t")
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
