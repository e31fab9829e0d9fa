"""Words and their part-of-speech tags from CoNLL-U files, and controls made of them: answers without vectors, and
random labels.

Source: Hewitt and Liang 2019 (EMNLP) for control tasks: each word type gets one random tag, so that a probe can only
learn it by heart. A layer's selectivity is its accuracy minus that on the control task.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import Bool

from elmo.errors import TextError
from elmo.text.files.lines import utf8_lines
from elmo.text.formats.columns import ColumnSentence, column_sentences
from elmo.text.reading.as_trained import composed

TagColumn = Literal["upos", "xpos"]
"""UPOS: the 17 tags that all languages share; XPOS: the treebank's own (for English, those of the Penn Treebank)."""

_PLACES: dict[TagColumn, int] = {"upos": 3, "xpos": 4}
_COLUMNS = 10


@dataclass(frozen=True)
class TreebankSentence:
    """The words of a sentence, and a tag for each."""

    tokens: tuple[str, ...]
    tags: tuple[str, ...]


def read_treebank(path: Path | str, column: TagColumn = "xpos") -> list[TreebankSentence]:
    """The sentences of a CoNLL-U file; multiword tokens and empty nodes are left out.

    Raises TextError with file and line for a line without ten columns, without a tag or not in UTF-8, and for a file
    without words.
    """
    found = column_sentences(utf8_lines(path), str(path), hashes="comments")
    sentences = [TreebankSentence(*zip(*words, strict=True)) for one in found if (words := _words(one, path, column))]
    if not sentences:
        raise TextError(
            f"{path}: has no words. Name a CoNLL-U file: ten columns with tabs between them, a word per line."
        )
    return sentences


def _words(sentence: ColumnSentence, path: Path | str, column: TagColumn) -> list[tuple[str, str]]:
    words = []
    for row, number in zip(sentence.rows, sentence.lines, strict=True):
        if len(row) != _COLUMNS:
            raise TextError(f"{path}:{number}: has {len(row)} columns, but CoNLL-U has {_COLUMNS}. Fix the line.")
        word, tag = row[1], row[_PLACES[column]]
        if not row[0].isdecimal():
            continue
        if tag in ("", "_"):
            raise TextError(
                f"{path}:{number}: the word {word!r} has no {column.upper()}. Choose the other column (--tags), or fix "
                "the line."
            )
        words.append((composed(word)[0], tag))
    return words


def majority_tags(train: Sequence[TreebankSentence], test: Sequence[TreebankSentence]) -> list[str]:
    """For each test token its word's most frequent training tag; for an unseen word the most frequent tag of words that
    occur once in training."""
    counts: dict[str, Counter[str]] = {}
    for sentence in train:
        for word, tag in zip(sentence.tokens, sentence.tags, strict=True):
            counts.setdefault(word, Counter())[tag] += 1
    once = Counter(tag for found in counts.values() if found.total() == 1 for tag in found)
    fallback = (once or Counter(tag for sentence in train for tag in sentence.tags)).most_common(1)[0][0]
    best = {word: found.most_common(1)[0][0] for word, found in counts.items()}
    return [best.get(word, fallback) for sentence in test for word in sentence.tokens]


def control_tags(splits: Sequence[Sequence[TreebankSentence]], seed: int) -> list[list[TreebankSentence]]:
    """The same sentences with a random tag for each word type, drawn by the tags' frequencies in the first split."""
    random = np.random.default_rng(seed)
    counts = Counter(tag for sentence in splits[0] for tag in sentence.tags)
    tags, shares = list(counts), np.array(list(counts.values())) / counts.total()
    words = sorted({word for split in splits for sentence in split for word in sentence.tokens})
    drawn = dict(zip(words, (tags[place] for place in random.choice(len(tags), len(words), p=shares)), strict=True))
    return [
        [TreebankSentence(one.tokens, tuple(map(drawn.__getitem__, one.tokens))) for one in split] for split in splits
    ]


def unseen(train: Sequence[TreebankSentence], test: Sequence[TreebankSentence]) -> Bool[np.ndarray, " tokens"]:
    """Whether the word of each test token doesn't occur in training."""
    known = {word for sentence in train for word in sentence.tokens}
    return np.array([word not in known for sentence in test for word in sentence.tokens], dtype=bool)


def ambiguous(train: Sequence[TreebankSentence], test: Sequence[TreebankSentence]) -> Bool[np.ndarray, " tokens"]:
    """Whether the word of each test token has two tags or more in training."""
    tags: dict[str, set[str]] = {}
    for sentence in train:
        for word, tag in zip(sentence.tokens, sentence.tags, strict=True):
            tags.setdefault(word, set()).add(tag)
    return np.array([len(tags.get(word, ())) > 1 for sentence in test for word in sentence.tokens], dtype=bool)
