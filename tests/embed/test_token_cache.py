"""TokenCache against a dictionary: what it finds is right, whatever it has forgotten."""

import threading
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from elmo.embed.token_table import TokenCache

DIM = 3
BYTES_PER_WORD = 4 * DIM + 256
WORDS = st.lists(st.sampled_from("abcdefghij"), unique=True, max_size=8)


def empty(count: int) -> np.ndarray:
    return np.full((count, DIM), np.nan, np.float32)


def table_of(words: list[str]) -> np.ndarray:
    """The vectors that belong to these words, and to no others."""
    rows = [[float(ord(word[0])), float(len(word)), float(sum(map(ord, word)))] for word in words]
    return np.array(rows, np.float32).reshape(len(words), DIM)


class CacheMachine(RuleBasedStateMachine):
    """Random sequences of `fill`, `add` and `clear`, beside the order in which the words were used."""

    def __init__(self) -> None:
        super().__init__()
        self.cache = TokenCache(4 * BYTES_PER_WORD, empty)
        self.order: list[str] = []

    @rule(words=WORDS)
    def fill(self, words):
        table = empty(len(words))
        new = self.cache.fill(words, table)
        assert new == [place for place, word in enumerate(words) if word not in self.order]
        assert np.isnan(table[new]).all()
        for place, word in enumerate(words):
            if word in self.order:
                assert np.array_equal(table[place], table_of([word])[0])
                self.order.remove(word)
                self.order.append(word)

    @rule(words=WORDS)
    def add(self, words):
        self.cache.add(words, table_of(words))
        new = [word for word in words if word not in self.order][-self.cache.capacity :]
        self.order = (self.order + new)[-self.cache.capacity :]

    @rule()
    def clear(self):
        self.cache.clear()
        self.order = []

    @invariant()
    def words_have_rows_of_their_own(self):
        assert list(self.cache._rows) == self.order
        assert len(set(self.cache._rows.values())) == len(self.order) == len(self.cache) <= 4


TestCacheMachine = CacheMachine.TestCase
TestCacheMachine.settings = settings(max_examples=60, stateful_step_count=30)


def test_a_word_that_another_thread_added_meanwhile_is_left_alone():
    cache = TokenCache(100 * BYTES_PER_WORD, empty)
    cache.add(["a", "b"], table_of(["a", "b"]))
    cache.add(["b", "c"], np.concatenate([np.zeros((1, DIM), np.float32), table_of(["c"])]))
    table = empty(3)
    assert cache.fill(["a", "b", "c"], table) == []
    assert np.array_equal(table, table_of(["a", "b", "c"]))
    assert (cache.hits, cache.misses) == (3, 0)


def test_words_too_long_are_not_remembered_and_without_memory_none_is():
    for words, remembered in ((2, ["b", "c"]), (0, [])):
        cache = TokenCache(words * BYTES_PER_WORD, empty)
        cache.add(["a", "b", "x" * 1000, "c"], table_of(["a", "b", "x" * 1000, "c"]))
        assert list(cache._rows) == remembered


class Disturbed:
    """Vectors of which one copying is disturbed by what another thread wants to do."""

    def __init__(self, vectors: np.ndarray, work: Callable[..., object], *arguments: Any) -> None:
        self.vectors, self.thread = vectors, threading.Thread(target=work, args=arguments)

    def disturb(self) -> None:
        if self.thread.ident is None:
            self.thread.start()
            self.thread.join(0.1)  # it has to wait

    def __getitem__(self, rows):
        self.disturb()
        return self.vectors[rows]

    def __setitem__(self, rows, values):
        self.disturb()
        self.vectors[rows] = values


def test_what_another_thread_does_waits_until_vectors_are_copied():
    cache = TokenCache(2 * BYTES_PER_WORD, empty)
    vectors = cache._vectors
    cache._vectors = Disturbed(vectors, cache.clear)
    cache.add(["a", "b"], table_of(["a", "b"]))
    cache._vectors.thread.join()
    assert len(cache) == 0
    cache.add(["a", "b"], table_of(["a", "b"]))
    cache._vectors = Disturbed(vectors, cache.add, ["c", "d"], table_of(["c", "d"]))
    table = empty(2)
    assert cache.fill(["a", "b"], table) == []
    cache._vectors.thread.join()
    assert np.array_equal(table, table_of(["a", "b"]))


def test_an_addition_that_was_cut_off_leaves_no_wrong_vector(monkeypatch):
    cache = TokenCache(2 * BYTES_PER_WORD, empty)
    cache.add(["a", "b"], table_of(["a", "b"]))
    with monkeypatch.context() as patch:
        patch.setattr(cache, "_vectors", None)
        with pytest.raises(TypeError, match="does not support item assignment"):
            cache.add(["c"], table_of(["c"]))
    table = empty(3)
    assert cache.fill(["a", "c", "b"], table) == [0, 1]
    assert np.array_equal(table[2], table_of(["b"])[0])
    cache.add(["d", "e"], table_of(["d", "e"]))
    assert cache.fill(["d", "b", "e"], table) == [0, 1]
    assert np.array_equal(table[2], table_of(["e"])[0])
