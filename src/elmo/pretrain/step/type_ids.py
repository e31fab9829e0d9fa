"""TypeIds: what a model reads of each word type of prepared data.

Prepared data has the bytes of each type. A word model reads the types' words, and a character dictionary is made here,
from the types and how often they occur in the training text.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from elmo.corpus.shards import TrainingData
from elmo.pretrain.settings.config import PretrainConfig
from elmo.text.characters import CharacterMap
from elmo.text.token_map import TokenMap, WordMap
from elmo.text.vocabulary import UNKNOWN, Vocabulary

_MARKS = ("begin_sentence", "end_sentence", "begin_word", "end_word", "padding", "unknown")
_ROWS_AT_ONCE = 65_536


@dataclass(frozen=True)
class TypeIds:
    """The ids of all types, and the map that gives the same ids to any token."""

    token_map: TokenMap
    characters: Int[np.ndarray, "types characters"] | None = field(repr=False)
    """Memory-mapped if they are bytes."""
    words: Int[np.ndarray, " types"] | None = field(repr=False)

    @classmethod
    def of(cls, config: PretrainConfig, data: TrainingData) -> "TypeIds":
        """As `config` has them read. A character dictionary takes 2 to 4 bytes for each character kept of each type."""
        limit = data.max_characters_per_token
        character_map, characters = CharacterMap.for_bytes(limit), data.type_characters
        if config.characters == "none":
            character_map = characters = None
        elif config.characters == "dictionary":
            types = data.types()
            counted = zip(types[2:], data.type_counts[2:].tolist(), strict=True)  # the first two are the boundaries
            character_map = dictionary_of(counted, config.max_character_dictionary, limit)
            starts = range(0, len(types), _ROWS_AT_ONCE)
            characters = np.concatenate([character_map.ids(types[at : at + _ROWS_AT_ONCE]) for at in starts])
        if not config.word_vector_size:
            return cls(TokenMap(character_map), characters, None)
        # Id 0 means no token, so words count from 1.
        words = np.asarray(data.type_words, dtype=np.int64) + 1
        return cls(TokenMap(character_map, _word_map(data.vocabulary)), characters, words)

    def of_types(
        self, types: Int[np.ndarray, " types"]
    ) -> tuple[Int[Tensor, "types characters"] | None, Int[Tensor, " types"] | None]:
        """The ids of some types, on the CPU."""
        characters, words = (
            None if ids is None else torch.from_numpy(np.asarray(ids[types])) for ids in (self.characters, self.words)
        )
        return characters, words


def dictionary_of(counted: Iterable[tuple[str, int]], max_size: int, max_characters_per_token: int) -> CharacterMap:
    """The `max_size` most frequent characters of words with their counts, ties in the order of Unicode.

    A character that occurs once has no id of its own: it is what the row of unknown characters learns from.
    """
    counts: Counter[str] = Counter()
    for word, count in counted:
        for character in word:
            counts[character] += count
    order = sorted((-count, character) for character, count in counts.items() if count > 1)
    marks = {name: number for number, name in enumerate(_MARKS, start=1)}
    dictionary = {character: number for number, (_, character) in enumerate(order[:max_size], start=len(_MARKS) + 1)}
    return CharacterMap.for_dictionary(dictionary, marks, max_characters_per_token)


def _word_map(vocabulary: Vocabulary) -> WordMap:
    return WordMap({word: vocabulary.id(word) + 1 for word in vocabulary.words}, UNKNOWN)
