"""Pairs of sentences that are translations of each other: two files -> numbers, and batches of them.

A source word is the row of its static vector; a target word is its place in the vocabulary. Words are lower-cased, and
entities, as Moses' tokenizer writes them (`&apos;`), are read as what they stand for.
"""

import html
from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from elmo.errors import TextError
from elmo.shapes import Float, Int
from elmo.static.vectors import StaticVectors
from elmo.text.reading.as_trained import as_trained
from elmo.text.sentences import read_sentences
from elmo_paper.cove.network import BEGINNING_ID, END_ID, PADDING_ID, SPECIAL_WORDS, UNKNOWN_ID

Files = tuple[Path, Path]
"""A sentence a line: the source language's, and its translations."""


class Pairs(NamedTuple):
    """Sentences of both sides, none of them empty."""

    sources: list[list[str]]
    targets: list[list[str]]
    num_left_out: int
    """Those with an empty side, or one that is too long."""


def read_pairs(files: Sequence[Files], longest: int | None = None) -> Pairs:
    """All pairs of some files, of at most `longest` tokens a side; None: none is left out for its length.

    Raises TextError if two files have different numbers of lines, or no pair is left.
    """
    found = Pairs([], [], 0)
    num_left_out = 0
    for source, target in files:
        for number, (one, other) in enumerate(zip_longest(read_sentences(source), read_sentences(target))):
            if one is None or other is None:
                short, long = (source, target) if one is None else (target, source)
                raise TextError(
                    f"{short}: ends after line {number:,}, but {long} goes on: each line of one file must be the "
                    "translation of the same line of the other. Give files with the same number of lines."
                )
            if all(1 <= len(sentence) <= (longest or len(sentence)) for sentence in (one, other)):
                found.sources.append([_plain(word) for word in as_trained(one)])
                found.targets.append([_plain(word) for word in as_trained(other)])
            else:
                num_left_out += 1
    if not found.sources:
        why = f"is empty or has more than {longest} tokens" if longest else "is empty"
        step = ", or allow more tokens with --longest" if longest else ""
        raise TextError(f"{files[0][0]}: there is no pair of sentences to read: {num_left_out:,} were left out because "
                        f"one side {why}. Give other files{step}.")  # fmt: skip
    return found._replace(num_left_out=num_left_out)


def _plain(word: str) -> str:
    unescaped = html.unescape(word) if "&" in word else word
    return (unescaped if len(unescaped.split()) == 1 else word).lower()


def target_words(targets: Sequence[Sequence[str]], min_count: int, max_words: int) -> tuple[str, ...]:
    """`SPECIAL_WORDS`, then the words that occur often enough, the most frequent first."""
    counts = Counter(word for sentence in targets for word in sentence)
    frequent = [word for word, count in counts.items() if count >= min_count and word not in SPECIAL_WORDS]
    return (*SPECIAL_WORDS, *sorted(frequent, key=lambda word: (-counts[word], word))[:max_words])


class NumberedPairs:
    """Pairs as numbers."""

    def __init__(self, pairs: Pairs, vectors: StaticVectors, words: Sequence[str]) -> None:
        """`words`: the target vocabulary. A source word without a vector has zeros."""
        ids = {word: number for number, word in enumerate(words)} | dict.fromkeys(SPECIAL_WORDS, UNKNOWN_ID)
        self._vectors = torch.from_numpy(np.concatenate([vectors.vectors, np.zeros((1, vectors.dim), np.float32)]))
        self._sources = [torch.from_numpy(vectors.rows(sentence)) for sentence in pairs.sources]
        self._targets = [
            torch.tensor([BEGINNING_ID, *(ids.get(word, UNKNOWN_ID) for word in sentence), END_ID])
            for sentence in pairs.targets
        ]
        self.num_words = sum(len(target) - 1 for target in self._targets)
        """Words to be predicted, the end of each sentence among them."""
        known = sum(int((source >= 0).sum()) for source in self._sources)
        self.known_share = known / sum(map(len, self._sources))
        """Of the source tokens, those with a vector."""

    def __len__(self) -> int:
        return len(self._sources)

    def groups(self, size: int, random: np.random.Generator | None = None) -> list[Int[np.ndarray, " batch"]]:
        """The places of `size` or fewer pairs of about the same source length, for `batch`; all pairs once.

        `random`: draws which of them come together, and the order; without it the short ones come first.
        """
        places = np.arange(len(self)) if random is None else random.permutation(len(self))
        lengths = np.array([len(self._sources[place]) for place in places])
        places = places[np.argsort(lengths, kind="stable")]
        found = np.split(places, np.arange(size, len(places), size))
        return found if random is None else [found[number] for number in random.permutation(len(found))]

    def batch(
        self, places: Int[np.ndarray, " batch"]
    ) -> tuple[Float[Tensor, "batch tokens dim"], Int[Tensor, " batch"], Int[Tensor, "batch positions"]]:
        """Source vectors and lengths, and target words with beginning and end, of these pairs; padded."""
        sources = [self._sources[place] for place in places]
        rows = pad_sequence(sources, batch_first=True, padding_value=-1)
        words = pad_sequence([self._targets[place] for place in places], batch_first=True, padding_value=PADDING_ID)
        return self._vectors[rows], torch.tensor([len(source) for source in sources]), words
