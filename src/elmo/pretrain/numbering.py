"""Text -> shards of type numbers, each word numbered when it first appears."""

import hashlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from elmo.errors import TextError
from elmo.pretrain.shards import BEGIN_SENTENCE_TYPE, END_SENTENCE_TYPE, offsets_path, tokens_path
from elmo.text.characters import BEGIN_SENTENCE, END_SENTENCE
from elmo.text.sentences import STDIN, text_name

# Bad lines whose message is kept; all are counted.
BAD_LINES_LISTED = 1000

OnBadLine = Callable[[int, str], None]
ReadSentences = Callable[[Path | str, OnBadLine], Iterable[list[str]]]


@dataclass
class NumberedSplit:
    """What is known of one split once it is read."""

    name: str
    shards: int = 0
    sentences: int = 0
    tokens: int = 0
    blank_lines: int = 0
    bad_lines: int = 0
    files: list[dict[str, Any]] = field(default_factory=list)
    _counts: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))

    def counts(self, num_types: int) -> np.ndarray:
        """(num_types,) int64: occurrences by type number; types that came later than this split have none."""
        return np.pad(self._counts, (0, num_types - len(self._counts)))

    @property
    def boundary_counts(self) -> list[int]:
        """How often `<S>` and `</S>` occur as words of the text."""
        return self._counts[[BEGIN_SENTENCE_TYPE, END_SENTENCE_TYPE]].tolist()

    def add_shard(self, folder: Path, numbers: np.ndarray, offsets: np.ndarray, num_types: int) -> None:
        """Writes one shard and counts it."""
        np.save(tokens_path(folder, self.name, self.shards), numbers)
        np.save(offsets_path(folder, self.name, self.shards), offsets)
        self._counts = self.counts(num_types) + np.bincount(numbers, minlength=num_types)
        self.shards += 1
        self.sentences += len(offsets) - 1
        self.tokens += len(numbers)


@dataclass(frozen=True)
class NumberedCorpus:
    """All splits, and the words in the order of their numbers."""

    splits: list[NumberedSplit]
    words: list[str]
    bad_lines: list[str]
    """Messages of the first `BAD_LINES_LISTED` lines that couldn't be decoded."""


class _Numbers(dict[str, int]):
    """Word -> number; asking for a new word numbers it."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


def number_corpus(
    texts: Mapping[str, Sequence[Path | str]], folder: Path, read: ReadSentences, tokens_per_shard: int
) -> NumberedCorpus:
    """Writes the shards of every split of `texts` to `folder`, in the order of the text.

    `read(file, on_bad_line)` gives a file's sentences. A shard is closed at the end of the sentence that fills it.
    Raises TextError if a split has no token.
    """
    numbers = _Numbers({BEGIN_SENTENCE: BEGIN_SENTENCE_TYPE, END_SENTENCE: END_SENTENCE_TYPE})
    corpus = NumberedCorpus([NumberedSplit(name) for name in texts], [], [])
    for split in corpus.splits:
        sentences = _sentences(split, texts[split.name], read, corpus.bad_lines)
        for tokens, offsets in _shards(sentences, numbers, tokens_per_shard):
            split.add_shard(folder, tokens, offsets, len(numbers))
        # A bad line came as an empty sentence.
        split.blank_lines -= split.bad_lines
        _check_has_tokens(split)
    corpus.words.extend(numbers)
    return corpus


def _sentences(
    split: NumberedSplit, files: Iterable[Path | str], read: ReadSentences, bad_lines: list[str]
) -> Iterator[list[str]]:
    """All sentences with tokens; what is left out is counted."""

    def on_bad_line(_: int, message: str) -> None:
        split.bad_lines += 1
        if len(bad_lines) < BAD_LINES_LISTED:
            bad_lines.append(message)

    for file in files:
        num_tokens = 0
        for sentence in read(file, on_bad_line):
            if sentence:
                num_tokens += len(sentence)
                yield sentence
            else:
                split.blank_lines += 1
        split.files.append({"path": str(file), "sha256": _sha256(file), "tokens": num_tokens})


def _shards(
    sentences: Iterable[list[str]], numbers: _Numbers, tokens_per_shard: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(tokens,) uint32 and (sentences + 1,) int64 of one shard after the other."""
    number = numbers.__getitem__
    tokens, offsets = array("I"), array("q", [0])
    for sentence in sentences:
        tokens.extend(map(number, sentence))
        offsets.append(len(tokens))
        if len(tokens) >= tokens_per_shard:
            yield np.frombuffer(tokens, np.uint32), np.frombuffer(offsets, np.int64)
            tokens, offsets = array("I"), array("q", [0])
    if tokens:
        yield np.frombuffer(tokens, np.uint32), np.frombuffer(offsets, np.int64)


def _sha256(file: Path | str) -> str | None:
    """Of the file as it lies on the disk; None for standard input, which is gone."""
    if str(file) == STDIN:
        return None
    with Path(file).open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _check_has_tokens(split: NumberedSplit) -> None:
    if split.tokens == 0:
        names = ", ".join(text_name(file["path"]) for file in split.files)
        raise TextError(
            f"{names}: the {split.name} text has no token ({split.blank_lines} blank lines, {split.bad_lines} bad "
            "ones), so there is nothing to learn from. Check the step that should have made it."
        )
