"""Sentences -> batches of similar length, with every distinct token numbered once.

sentences -> number_tokens -> (distinct tokens, places of each sentence)
          -> bucket        -> rows that go together, longest sentence first, bounded in tokens
          -> pad           -> Batch
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from elmo.shapes import Int


@dataclass(frozen=True)
class Batch:
    """Some sentences as places in the list of distinct tokens."""

    rows: Int[np.ndarray, " batch"]
    """Which of the caller's sentences these are"""
    lines: Sequence[Int[np.ndarray, " tokens"]]
    """The places of each row's tokens among the distinct ones"""
    lengths: Int[np.ndarray, " batch"]
    """Tokens of each row"""

    @cached_property
    def places(self) -> Int[np.ndarray, "batch tokens"]:
        """All places side by side; 0 beyond a row's length"""
        padded = np.zeros((len(self.rows), int(self.lengths.max(initial=0))), dtype=np.int64)
        for row, line in zip(padded, self.lines, strict=True):
            row[: len(line)] = line
        return padded


def number_tokens(
    sentences: Sequence[Sequence[str]], boundary_tokens: tuple[str, str]
) -> tuple[list[str], list[Int[np.ndarray, " tokens"]]]:
    """The distinct tokens, the two boundary tokens first, and each sentence's places with its boundaries around."""
    begin, end = boundary_tokens
    numbers = {begin: 0, end: 1}
    places = []
    for sentence in sentences:
        inner = [numbers.setdefault(token, len(numbers)) for token in sentence]
        places.append(np.array([0, *inner, 1], dtype=np.int64))
    return list(numbers), places


def bucket(lengths: Sequence[int], max_tokens: int, *, padded: bool = True) -> Iterator[Int[np.ndarray, " batch"]]:
    """Groups of indices, longest first, each of at most `max_tokens` tokens (or one sentence).

    `padded`: whether padding counts, which makes each row of a group as long as its first one.
    """
    order = np.argsort(-np.asarray(lengths, dtype=np.int64), kind="stable")
    ends = np.cumsum(np.asarray(lengths, dtype=np.int64)[order])
    start = 0
    while start < len(order):
        longest = lengths[order[start]]
        most = ends[start] - longest + max_tokens
        count = max_tokens // max(1, longest) if padded else int(np.searchsorted(ends, most, "right")) - start
        yield order[start : start + max(1, count)]
        start += max(1, count)


def pad(places: Sequence[Int[np.ndarray, " tokens"]], rows: Int[np.ndarray, " batch"]) -> Batch:
    """The sentences `rows`."""
    lines = [places[row] for row in rows]
    return Batch(rows, lines, np.array([len(line) for line in lines], dtype=np.int64))
