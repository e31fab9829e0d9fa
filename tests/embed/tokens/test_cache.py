"""TokenCache against a dictionary: what it finds is right, whatever it has forgotten."""

import sys
import threading

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from elmo.embed.tokens.cache import TokenCache

DIM = 3
BYTES_PER_WORD = 4 * DIM + 256
WORDS = st.lists(st.sampled_from("abcdefghij"), unique=True, max_size=8)
CPU = torch.device("cpu")


def table_of(words: list[str]) -> torch.Tensor:
    """The vectors that belong to these words, and to no others."""
    rows = [[float(ord(word[0])), float(len(word)), float(sum(map(ord, word)))] for word in words]
    return torch.tensor(rows).reshape(len(words), DIM)


class CacheMachine(RuleBasedStateMachine):
    """Random sequences of `fill`, `add` and `clear`, beside the order in which the words were used."""

    def __init__(self) -> None:
        super().__init__()
        self.cache = TokenCache(4 * BYTES_PER_WORD, DIM, CPU)
        self.order: list[str] = []

    @rule(words=WORDS)
    def fill(self, words):
        table = torch.full((len(words), DIM), torch.nan)
        new = self.cache.fill(words, table)
        assert new == [place for place, word in enumerate(words) if word not in self.order]
        assert bool(table[new].isnan().all())
        for place, word in enumerate(words):
            if word in self.order:
                assert torch.equal(table[place], table_of([word])[0])
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
TestCacheMachine.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


def test_a_word_that_another_thread_added_meanwhile_is_left_alone():
    cache = TokenCache(100 * BYTES_PER_WORD, DIM, CPU)
    cache.add(["a", "b"], table_of(["a", "b"]))
    cache.add(["b", "c"], torch.cat([torch.zeros(1, DIM), table_of(["c"])]))
    table = torch.empty(3, DIM)
    assert cache.fill(["a", "b", "c"], table) == []
    assert torch.equal(table, table_of(["a", "b", "c"]))


def test_an_addition_that_was_cut_off_leaves_no_wrong_vector(monkeypatch):
    cache = TokenCache(2 * BYTES_PER_WORD, DIM, CPU)
    cache.add(["a", "b"], table_of(["a", "b"]))
    with monkeypatch.context() as patch:
        patch.setattr(cache, "_index", lambda places: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            cache.add(["c"], table_of(["c"]))
    table = torch.empty(3, DIM)
    assert cache.fill(["a", "c", "b"], table) == [0, 1]
    assert torch.equal(table[2], table_of(["b"])[0])
    cache.add(["d", "e"], table_of(["d", "e"]))
    assert cache.fill(["d", "b", "e"], table) == [0, 1]
    assert torch.equal(table[2], table_of(["e"])[0])


@pytest.mark.parametrize("capacity", [3, 40])
def test_many_threads_find_only_right_vectors(capacity):
    cache = TokenCache(capacity * BYTES_PER_WORD, DIM, CPU)
    words = [f"{letter}{number}" for number in range(8) for letter in "abcdefgh"]
    wrong, barrier = [], threading.Barrier(8)

    def work(seed: int) -> None:
        barrier.wait()
        for step in range(40):
            start = (7 * seed + 5 * step) % len(words)
            some = words[start : start + 9]
            table = torch.full((len(some), DIM), torch.nan)
            new = cache.fill(some, table)
            computed = table_of([some[place] for place in new])
            table[new] = computed
            cache.add([some[place] for place in new], computed)
            if not torch.equal(table, table_of(some)):
                wrong.append(some)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert wrong == []
    assert len(set(cache._rows.values())) == len(cache)
