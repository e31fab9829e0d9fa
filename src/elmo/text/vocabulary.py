"""Vocabulary: the words that a language model predicts, their ids, and the target of each token.

File: one word per line, UTF-8, `<S>`, `</S>` and `<UNK>` first, then by descending training frequency: the sampled
softmax takes a word's id for its rank. Source: bilm-tf README.md and `bilm/data.py`.

The target of a token is the token itself, its longest beginning, or `<UNK>`. Where words are built of many parts, a
list of 30,000 words leaves a third of the tokens to `<UNK>`, which teaches nothing and makes perplexity a figure about
one symbol. A vocabulary may therefore list beginnings beside words: the entry `학교⋯` is the target of every token that
begins with `학교` and isn't listed itself. Each token still has one target, so the softmax, its loss and its perplexity
keep their meaning.

Beginnings are chosen by the training text's counts, longest first: one is chosen if enough tokens have it and none of
the longer ones chosen before. "Enough" is the lowest count that leaves room for all of them, so that frequent stems get
long entries of their own and everything else falls to a first syllable or letter.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np

from elmo.disk.atomic import write_file
from elmo.errors import TextError
from elmo.setting_checks import NotNegativeInt, PositiveInt, require_setting, require_value
from elmo.shapes import Int
from elmo.text.characters import BEGIN_SENTENCE, END_SENTENCE
from elmo.text.word_list import SKIPPED_LINE, encoded_word_list, read_word_list

T = TypeVar("T")

UNKNOWN = "<UNK>"
SPECIAL_WORDS = (BEGIN_SENTENCE, END_SENTENCE, UNKNOWN)

BEGINNING_MARK = "\N{WORD JOINER}\N{MIDLINE HORIZONTAL ELLIPSIS}"
"""Ends an entry that stands for all tokens with this beginning. It looks like an ellipsis, but its first character,
which takes no space, keeps it apart from the ellipses of texts."""


def is_beginning(entry: str) -> bool:
    """Whether an entry of a vocabulary is a beginning, not a word."""
    return len(entry) > len(BEGINNING_MARK) and entry.endswith(BEGINNING_MARK)


class Beginnings:
    """The beginnings among the entries of a list: tokens -> the id of the longest one."""

    def __init__(self, ids: Mapping[str, int]) -> None:
        self._ids = {entry.removesuffix(BEGINNING_MARK): index for entry, index in ids.items() if is_beginning(entry)}
        self._longest = max(map(len, self._ids), default=0)

    def id(self, token: str, otherwise: T) -> int | T:
        """The id of the longest beginning of `token` that is listed, or `otherwise`."""
        for length in range(min(self._longest, len(token) - 1), 0, -1):
            if (found := self._ids.get(token[:length])) is not None:
                return found
        return otherwise


class TargetIds:
    """Tokens -> ids of their targets. Of equal entries the last one's id counts, as in bilm-tf, but a special word's
    first one. Raises TextError if a special word is missing."""

    def __init__(self, entries: Sequence[str]) -> None:
        ids = {entry: index for index, entry in enumerate(entries)}
        if missing := [word for word in SPECIAL_WORDS if word not in ids]:
            raise TextError(
                f"the vocabulary has no {' and no '.join(missing)}. Put {', '.join(SPECIAL_WORDS)} before all others."
            )
        ids |= {word: entries.index(word) for word in SPECIAL_WORDS}
        self.begin, self.end, self.unknown = (ids[word] for word in SPECIAL_WORDS)
        self._beginnings = Beginnings(ids)
        self._words = {word: index for word, index in ids.items() if not is_beginning(word)}

    def __contains__(self, token: object) -> bool:
        """Whether `token` itself is listed."""
        return token in self._words

    def id(self, token: str) -> int:
        """The id of `token` if it is listed, else of its longest beginning that is, else of `<UNK>`."""
        found = self._words.get(token)
        return self._beginnings.id(token, self.unknown) if found is None else found


LONGEST_BEGINNING = 8
"""Characters. In Korean text the longest chosen have six; the bound keeps URLs and the like from costing time."""


def choose_beginnings(counts: Mapping[str, int], room: int) -> dict[str, int]:
    """At most `room` beginnings of the words in `counts`, each with the number of tokens it then represents.

    `counts`: occurrences of the words that have no entry of their own. A beginning is shorter than its word, and
    has at most eight characters.
    """
    if room < 1 or not counts:
        return {}
    # A higher bound never leaves more beginnings; at the last, `room` of them would have more tokens than there are.
    possible = range(1, sum(counts.values()) // room + 2)
    place = bisect_left(possible, True, key=lambda least: len(_frequent(counts, least)) <= room)
    return _frequent(counts, possible[place])


def _frequent(counts: Mapping[str, int], least: int) -> dict[str, int]:
    """The beginnings that `least` tokens or more have, beside those that have a longer one."""
    chosen: dict[str, int] = {}
    rest = list(counts.items())
    for length in range(LONGEST_BEGINNING, 0, -1):
        found: Counter[str] = Counter()
        for word, count in rest:
            if len(word) > length:
                found[word[:length]] += count
        new = {beginning: count for beginning, count in found.items() if count >= least}
        chosen |= new
        rest = [(word, count) for word, count in rest if len(word) <= length or word[:length] not in new]
    return chosen


@dataclass(frozen=True)
class Vocabulary:
    """Words in the order of their ids; the first three are `<S>`, `</S>`, `<UNK>`."""

    words: tuple[str, ...] = field(repr=False)
    _targets: TargetIds = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", tuple(self.words))
        if self.words[:3] != SPECIAL_WORDS:
            raise TextError(
                f"the first three words must be {', '.join(SPECIAL_WORDS)} (got {', '.join(self.words[:3])}). Put them "
                "first, one per line, or let 'elmo prepare' make the vocabulary."
            )
        object.__setattr__(self, "_targets", TargetIds(self.words))

    @classmethod
    def from_counts(
        cls,
        counts: Mapping[str, int],
        *,
        max_size: int | None = None,
        min_count: int = 1,
        num_beginnings: int = 0,
    ) -> "Vocabulary":
        """The most frequent words of `counts`, most frequent first, ties in the order of the words themselves.

        `max_size`: entries at most, the three special ones included (None: no bound). `min_count`: rarer words are left
        out. `num_beginnings`: entries at most, of the `max_size`, that are beginnings of the words left out; they are
        placed among the words by the number of tokens they are the target of. Raises ConfigError if nothing fits, or
        no word is frequent enough.
        """
        require_value("min_count", min_count, PositiveInt)
        require_value("num_beginnings", num_beginnings, NotNegativeInt)
        least = len(SPECIAL_WORDS) + num_beginnings + 1
        require_setting(max_size is None or max_size >= least, "vocab_size", max_size, f"at least {least}")
        possible = [
            (-count, word)
            for word, count in counts.items()
            if word not in SPECIAL_WORDS and word != SKIPPED_LINE and not is_beginning(word)
        ]
        kept = sorted(entry for entry in possible if -entry[0] >= min_count)
        room = None if max_size is None else max_size - len(SPECIAL_WORDS) - num_beginnings
        listed = kept[:room]
        if num_beginnings:
            words = {word for _, word in listed}
            left_out = {word: -negative for negative, word in possible if word not in words}
            chosen = choose_beginnings(left_out, num_beginnings)
            listed = sorted([*listed, *((-count, text + BEGINNING_MARK) for text, count in chosen.items())])
        if possible and not listed:
            negative, word = min(possible)
            require_setting(False, "min_count", min_count, f"at most {-negative}, the count of the first word {word!r}")
        return cls((*SPECIAL_WORDS, *(word for _, word in listed)))

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._targets

    @property
    def unknown_id(self) -> int:
        """The id of `<UNK>`, which every token gets that has no other target."""
        return self._targets.unknown

    def id(self, word: str) -> int:
        """The id of `word`, of its longest beginning that is listed, or `unknown_id`."""
        return self._targets.id(word)

    def ids(self, tokens: Sequence[str]) -> Int[np.ndarray, " tokens"]:
        """`id` of each, int64."""
        return np.fromiter(map(self._targets.id, tokens), dtype=np.int64, count=len(tokens))

    def write(self, path: Path | str) -> None:
        """Writes one word per line; the file appears whole or not at all.

        Raises TextError for a word that fits in no line, OutputError if the file can't be written.
        """
        write_file(Path(path), encoded_word_list(self.words))

    @classmethod
    def read(cls, path: Path | str) -> "Vocabulary":
        """A vocabulary file: lines are stripped, a blank line is the word '', of equal words the last one counts.

        Raises TextError if the file is missing, is not UTF-8, or doesn't begin with `<S>`, `</S>`, `<UNK>`.
        """
        words = tuple(read_word_list(Path(path)))
        try:
            return cls(words)
        except TextError as error:
            raise TextError(f"{path}: {error}") from None
