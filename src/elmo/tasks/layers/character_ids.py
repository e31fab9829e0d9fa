"""CharacterIds: characters as numbers, for char CNNs that are learned with a task.

0 is padding, 1 every unknown character; each distinct token of a batch is read once.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Int
from torch import Tensor

PADDING, UNKNOWN = 0, 1


class CharacterIds:
    """The characters that have a vector of their own."""

    def __init__(self, characters: Sequence[str]) -> None:
        self._ids = {character: number for number, character in enumerate(dict.fromkeys(characters), start=UNKNOWN + 1)}

    def __len__(self) -> int:
        """How many vectors there are, those of padding and of unknown characters included."""
        return len(self._ids) + UNKNOWN + 1

    def of_words(self, words: Sequence[str], min_length: int) -> Int[Tensor, "words characters"]:
        """As many columns as the longest word has characters, at least `min_length`."""
        longest = max([min_length, *map(len, words)])
        ids = torch.full((len(words), longest), PADDING)
        for line, word in zip(ids, words, strict=True):
            line[: len(word)] = torch.tensor([self._ids.get(character, UNKNOWN) for character in word])
        return ids


def distinct(sentences: Sequence[Sequence[str]]) -> tuple[list[str], Int[Tensor, "batch tokens"]]:
    """The distinct tokens of a batch, and for each position the number of its token from 1 on; 0 at padding."""
    places: dict[str, int] = {}
    rows = torch.zeros(len(sentences), max(map(len, sentences), default=0), dtype=torch.int64)
    for line, sentence in zip(rows, sentences, strict=True):
        line[: len(sentence)] = torch.tensor([places.setdefault(token, len(places) + 1) for token in sentence])
    return list(places), rows


def characters_of(words: Iterable[str], min_count: int = 1) -> list[str]:
    """The characters that occur at least `min_count` times in `words`, in a fixed order."""
    counts = Counter(character for word in words for character in word)
    return sorted(character for character, count in counts.items() if count >= min_count)
