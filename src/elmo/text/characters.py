"""CharacterMap: a token -> the ids of its characters.

Source: bilm-tf `bilm/data.py`, AllenNLP `elmo_indexer.py` (bytes); ELMoForManyLangs `frontend.py` (a dictionary).

A token fills one row of `max_characters_per_token` ids: a begin-of-word mark, its characters (as many as fit beside
the two marks; a multi-byte character may be cut in half), an end-of-word mark, then padding inside the word. Id 0 is
kept for "no token here" and never occurs in a row.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from elmo.shapes import Int

BEGIN_SENTENCE = "<S>"
END_SENTENCE = "</S>"


@dataclass(frozen=True)
class CharacterMap:
    """Characters -> ids. Build it with `for_bytes` or `for_dictionary`."""

    max_characters_per_token: int
    num_characters: int
    begin_sentence: int
    end_sentence: int
    begin_word: int
    end_word: int
    padding: int
    dictionary: Mapping[str, int] | None = field(default=None, repr=False)
    """Character -> id; None: the UTF-8 bytes themselves are the characters (byte b has id b + 1)."""
    unknown: int = 0
    """Id of a character that is not in the dictionary."""
    boundary_tokens: tuple[str, str] = (BEGIN_SENTENCE, END_SENTENCE)
    """The tokens that mean the begin and the end of a sentence when they occur as text."""

    @classmethod
    def for_bytes(cls, max_characters_per_token: int = 50) -> "CharacterMap":
        """The published byte-level alphabet: 256 bytes and five marks, shifted by 1 for the mask."""
        return cls(max_characters_per_token, 262, 257, 258, 259, 260, 261)

    @classmethod
    def for_dictionary(
        cls,
        dictionary: Mapping[str, int],
        marks: Mapping[str, int],
        max_characters_per_token: int = 50,
        boundary_tokens: tuple[str, str] = (BEGIN_SENTENCE, END_SENTENCE),
    ) -> "CharacterMap":
        """An alphabet of whole characters.

        `marks` gives the ids of `begin_sentence`, `end_sentence`, `begin_word`, `end_word`, `padding`, `unknown`.
        All ids count from 1; 0 is "no token".
        """
        num_characters = 1 + max(*dictionary.values(), *marks.values())
        return cls(
            max_characters_per_token,
            num_characters,
            dictionary=dict(dictionary),
            boundary_tokens=boundary_tokens,
            **marks,
        )

    @property
    def max_kept(self) -> int:
        """Characters of a token that are kept: all but the two marks."""
        return self.max_characters_per_token - 2

    def kept_ids(self, token: str) -> Sequence[int]:
        """The ids of the token's own characters, cut to `max_kept`; characters that UTF-8 can't hold are dropped."""
        if self.dictionary is None:
            return [byte + 1 for byte in token.encode("utf-8", "ignore")[: self.max_kept]]
        return [self.dictionary.get(character, self.unknown) for character in token[: self.max_kept]]

    def is_cut(self, token: str) -> bool:
        """Whether the token has more characters than are kept."""
        length = len(token.encode("utf-8", "ignore")) if self.dictionary is None else len(token)
        return length > self.max_kept

    def ids(self, tokens: Iterable[str]) -> Int[np.ndarray, "tokens characters"]:
        """Of each token, int16 or int32. The boundary tokens become the boundary rows, as in AllenNLP."""
        tokens = list(tokens)
        boundaries = dict(zip(self.boundary_tokens, (self.begin_sentence, self.end_sentence), strict=True))
        dtype = np.int16 if self.num_characters <= np.iinfo(np.int16).max else np.int32
        rows = np.full((len(tokens), self.max_characters_per_token), self.padding, dtype=dtype)
        rows[:, 0] = self.begin_word
        for row, token in zip(rows, tokens, strict=True):
            kept = (boundaries[token],) if token in boundaries else self.kept_ids(token)
            row[1 : 1 + len(kept)] = kept
            row[1 + len(kept)] = self.end_word
        return rows
