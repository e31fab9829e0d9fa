"""TokenTable and TokenCache: a word's vector is its own, to the bit; memory is bounded."""

import random
import string

import numpy as np
import pytest
import torch

from elmo.embed.tokens.cache import TokenCache
from elmo.embed.tokens.table import TokenTable
from elmo.model.bilm import BiLM
from elmo.text.token_map import TokenMap, WordMap


@pytest.fixture
def words() -> list[str]:
    chance = random.Random(3)
    lengths = [*range(60), *(chance.randrange(1, 12) for _ in range(80))]
    return sorted({"".join(chance.choices(string.ascii_lowercase + "é책", k=length)) for length in lengths})


@pytest.mark.slow
@torch.inference_mode()
def test_a_words_vector_never_depends_on_its_company(tiny_bilm, words):
    chance = random.Random(4)
    alone = {word: TokenTable(tiny_bilm, 0).vectors([word])[0].numpy() for word in words}
    table = TokenTable(tiny_bilm, 20_000)
    for _ in range(30):
        some = chance.sample(words, chance.randrange(1, len(words)))
        for word, vector in zip(some, table.vectors(some).numpy(), strict=True):
            assert vector.tobytes() == alone[word].tobytes(), word
    assert table.cache.hits
    assert len(table.cache) <= table.cache.capacity


@torch.inference_mode()
def test_vectors_are_those_of_the_model(tiny_bilm, words):
    ids = torch.from_numpy(tiny_bilm.token_map.ids(words).characters)
    found = TokenTable(tiny_bilm, 0).vectors(words)
    torch.testing.assert_close(found, tiny_bilm.token_vectors(ids), rtol=0, atol=1e-6)


@torch.inference_mode()
def test_models_of_words_have_no_characters_to_be_cut(tiny_config):
    from dataclasses import replace

    config = replace(tiny_config, characters="none", num_words=5, word_dim=8, token_projection=False)
    listed = {word: number for number, word in enumerate(["<S>", "</S>", "<UNK>", "a"], start=1)}
    bilm = BiLM(config, TokenMap(None, WordMap(listed)))
    vectors = TokenTable(bilm, 1000).vectors(["a", "<S>", "nowhere"])
    torch.testing.assert_close(vectors, bilm.token_encoder.word_embedding[[4, 1, 3]])


def test_the_least_recently_used_word_is_forgotten_first():
    cache = TokenCache(3 * (4 * 2 + 256), 2, torch.device("cpu"))
    assert cache.capacity == 3
    cache.add(["a", "b", "c"], torch.arange(6.0).view(3, 2))
    cache.fill(["a"], torch.empty(1, 2))
    cache.add(["d"], torch.full((1, 2), 9.0))
    table = torch.empty(4, 2)
    assert cache.fill(["a", "b", "c", "d"], table) == [1]
    np.testing.assert_array_equal(table[[0, 2, 3]].numpy(), [[0, 1], [4, 5], [9, 9]])
    assert (cache.hits, cache.misses) == (4, 1)


def test_more_words_than_fit_and_words_too_long_leave_the_cache_sound():
    cache = TokenCache(2 * (4 * 2 + 256), 2, torch.device("cpu"))
    cache.add(["a", "x" * 1000, "b", "c"], torch.arange(8.0).view(4, 2))
    assert len(cache) == 2
    table = torch.empty(2, 2)
    assert cache.fill(["b", "c"], table) == []
    np.testing.assert_array_equal(table.numpy(), [[4, 5], [6, 7]])
    cache.clear()
    assert cache.fill(["b"], torch.empty(1, 2)) == [0]
    TokenCache(0, 2, torch.device("cpu")).add(["a"], torch.zeros(1, 2))
