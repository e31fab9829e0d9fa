"""TokenMap: tokens -> all the ids a model reads: of their characters, of the words themselves, or of both.

Published models read characters; word-embedding models read word ids (bilm-tf `TokenBatcher`); ELMoForManyLangs reads
both. Id 0 always means "no token here".
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from elmo.errors import TextError
from elmo.shapes import Int
from elmo.text.characters import BEGIN_SENTENCE, END_SENTENCE, CharacterMap
from elmo.text.vocabulary import Beginnings


@dataclass(frozen=True)
class WordMap:
    """Words -> ids, which count from 1. A word that isn't listed has that of its longest beginning that is."""

    words: Mapping[str, int] = field(repr=False)
    unknown: str | None = "<UNK>"
    """The word that replaces every word without an id; None: such a word is an error."""
    max_characters: int | None = None
    """Words are cut to this many characters before they are looked up; None: never."""
    boundary_tokens: tuple[str, str] = (BEGIN_SENTENCE, END_SENTENCE)

    def __post_init__(self) -> None:
        needed = [*self.boundary_tokens, *([self.unknown] if self.unknown is not None else [])]
        if missing := [word for word in needed if word not in self.words]:
            raise TextError(f"the word list lacks {missing[0]!r}. Pass the one that the model was trained with.")

    @cached_property
    def _beginnings(self) -> Beginnings:
        return Beginnings(self.words)

    def ids(self, tokens: Sequence[str]) -> Int[np.ndarray, " tokens"]:
        """The id of each token, int64."""
        fallback = None if self.unknown is None else self.words[self.unknown]
        cut, beginnings = self.max_characters, self._beginnings
        ids = [
            beginnings.id(word, fallback) if (found := self.words.get(word)) is None else found
            for word in (token[:cut] for token in tokens)
        ]
        if None in ids:
            word = tokens[ids.index(None)]
            raise TextError(f"the word {word!r} is not in the model's word list, which has none for unknown words.")
        return np.array(ids, dtype=np.int64)


@dataclass(frozen=True)
class TokenIds:
    """What a model reads of some tokens; a part the model doesn't read is None."""

    characters: Int[np.ndarray, "tokens characters"] | None
    words: Int[np.ndarray, " tokens"] | None


@dataclass(frozen=True)
class TokenMap:
    """Tokens -> ids, by characters, by words or by both."""

    characters: CharacterMap | None
    words: WordMap | None = None

    @property
    def boundary_tokens(self) -> tuple[str, str]:
        """The tokens for begin and end of sentence: `ids(boundary_tokens)` gives their ids."""
        part = self.characters or self.words
        assert part is not None  # one of the two always is
        return part.boundary_tokens

    def ids(self, tokens: Sequence[str]) -> TokenIds:
        """The ids of `tokens`; no boundaries are added."""
        return TokenIds(
            None if self.characters is None else self.characters.ids(tokens),
            None if self.words is None else self.words.ids(tokens),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "TokenMap":
        """The reverse of `to_dict`."""
        return cls(
            None if values["characters"] is None else CharacterMap(**_tuples(values["characters"])),
            None if values["words"] is None else WordMap(**_tuples(values["words"])),
        )


def _tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    return {**values, "boundary_tokens": tuple(values["boundary_tokens"])}
