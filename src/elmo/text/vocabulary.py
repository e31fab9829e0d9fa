"""Vocabulary: the words a language model predicts, and their ids.

File: one word per line, UTF-8, `<S>`, `</S>` and `<UNK>` first, then by descending training frequency: the sampled
softmax takes a word's id for its rank. A line that ends in `⋯` is a beginning (`targets/target_ids.py`).
Source: bilm-tf README.md and `bilm/data.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from elmo.disk.atomic import new_file
from elmo.errors import ConfigError, TextError
from elmo.shapes import Int
from elmo.text.targets.beginnings import choose_beginnings
from elmo.text.targets.target_ids import BEGINNING_MARK, SPECIAL_WORDS, TargetIds, is_beginning
from elmo.text.word_list import SKIPPED_LINE, encoded_word_list, read_lines, words_of


@dataclass(frozen=True)
class Vocabulary:
    """Words in the order of their ids; the first three are `<S>`, `</S>`, `<UNK>`."""

    words: tuple[str, ...] = field(repr=False)
    _targets: TargetIds = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", tuple(self.words))
        if self.words[:3] != SPECIAL_WORDS:
            raise TextError(
                f"the vocabulary begins with {list(self.words[:3])}, but the model needs {list(SPECIAL_WORDS)} there "
                "for boundaries and unknown words. Put these three words first, one per line."
            )
        # Of equal words the last one's id counts, as in bilm-tf; the special words' ids never move.
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
        out. `num_beginnings`: entries at most, of the `max_size`, that are beginnings of the words left out; they
        stand among the words by the number of tokens they are the target of. Raises ConfigError if nothing fits, or no
        word is frequent enough.
        """
        _check_sizes(max_size, min_count, num_beginnings)
        possible = [(-count, word) for word, count in counts.items() if _can_be_listed(word)]
        kept = sorted(entry for entry in possible if -entry[0] >= min_count)
        room = None if max_size is None else max_size - len(SPECIAL_WORDS) - num_beginnings
        listed = kept[:room]
        if num_beginnings:
            words = {word for _, word in listed}
            left_out = {word: count for word, count in counts.items() if word not in words and _can_be_listed(word)}
            chosen = choose_beginnings(left_out, num_beginnings)
            listed = sorted([*listed, *((-count, text + BEGINNING_MARK) for text, count in chosen.items())])
        if possible and not listed:
            negative, word = min(possible)
            raise _none_frequent(word, -negative, min_count)
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
        content = encoded_word_list(self.words)
        with new_file(Path(path), size=len(content), force=True) as unfinished:
            unfinished.write_bytes(content)

    @classmethod
    def read(cls, path: Path | str) -> "Vocabulary":
        """A vocabulary file: lines are stripped, a blank line is the word '', of equal words the last one counts.

        Raises TextError if the file is missing, is not UTF-8, or doesn't begin with `<S>`, `</S>`, `<UNK>`.
        """
        lines = read_lines(Path(path))
        words = tuple(words_of(lines))
        if words[:3] != SPECIAL_WORDS:
            raise TextError(_without_specials(path, lines))
        return cls(words)


def _check_sizes(max_size: int | None, min_count: int, num_beginnings: int) -> None:
    least = len(SPECIAL_WORDS) + 1 + num_beginnings
    if max_size is not None and max_size < least:
        beginnings = f" and {num_beginnings} beginnings" if num_beginnings else ""
        raise ConfigError(
            f"the vocabulary size is {max_size}, but must be at least {least}: {SPECIAL_WORDS}{beginnings} belong to "
            "it, and a word. Choose for instance 30000."
        )
    if min_count < 1:
        raise ConfigError(f"min_count is {min_count}, but must be at least 1: a word not in the text has no count.")
    if num_beginnings < 0:
        raise ConfigError(f"num_beginnings is {num_beginnings}, but must be 0 (no beginnings) or more.")


def _none_frequent(word: str, count: int, min_count: int) -> ConfigError:
    return ConfigError(
        f"min_count is {min_count}, but the most frequent word of the text, {word!r}, has a count of {count}, so no "
        "word would be in the vocabulary, and every token would be <UNK>. Choose a smaller one, or name more text."
    )


def _can_be_listed(word: str) -> bool:
    return word not in SPECIAL_WORDS and word != SKIPPED_LINE and not is_beginning(word)


def _without_specials(path: Path | str, lines: Sequence[str]) -> str:
    found = ", ".join(
        f"{word} {f'in line {lines.index(word) + 1}' if word in lines else 'nowhere'}" for word in SPECIAL_WORDS
    )
    return (
        f"{path}: the first three words must be {', '.join(SPECIAL_WORDS)}, but the file has {found}. Without them "
        "boundaries and unknown words would get the ids of other words. Put them first, or let 'elmo prepare' make the "
        "vocabulary."
    )
