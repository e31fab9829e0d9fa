"""TokenTable: a word's vector is its own, to the bit."""

import random
import string
from dataclasses import replace

import numpy as np
import pytest

from elmo.embed.network import EngineNetwork
from elmo.embed.token_table import TokenTable
from elmo.engine.engine import Engine
from elmo.text.token_map import TokenMap, WordMap
from elmo.weights.checkpoint import Checkpoint
from elmo.weights.shapes import network_shapes


@pytest.fixture
def words() -> list[str]:
    chance = random.Random(3)
    lengths = [*range(60), *(chance.randrange(1, 12) for _ in range(80))]
    return sorted({"".join(chance.choices(string.ascii_lowercase + "é책", k=length)) for length in lengths})


@pytest.fixture(params=["numpy", "engine of a biLM", "torch"])
def network(request, tiny_checkpoint):
    """Of all kinds, with equal weights."""
    if request.param == "numpy":
        return EngineNetwork(tiny_checkpoint, Engine.from_checkpoint(tiny_checkpoint))
    pytest.importorskip("torch")
    from elmo.embed.torch_network import TorchNetwork
    from elmo.model.bilm import BiLM

    bilm = BiLM.from_checkpoint(tiny_checkpoint)
    if request.param == "torch":
        bilm.forward_lstm.register_forward_hook(lambda *_: None)  # the engine leaves it to torch
    return TorchNetwork(bilm, "float32")


@pytest.mark.slow
def test_a_words_vector_never_depends_on_its_company(network, words):
    chance = random.Random(4)
    alone = {word: np.asarray(TokenTable(network, 0).vectors(network.now(), [word])[0]) for word in words}
    table = TokenTable(network, 20_000)
    for _ in range(30):
        some = chance.sample(words, chance.randrange(1, len(words)))
        for word, vector in zip(some, np.asarray(table.vectors(network.now(), some)), strict=True):
            assert vector.tobytes() == alone[word].tobytes(), word
    # What hooks may change at each call is not remembered.
    assert bool(table.cache.hits) == isinstance(network.now(), EngineNetwork)
    assert len(table.cache) <= table.cache.capacity


def test_vectors_are_those_of_the_engine_in_double_precision(network, tiny_checkpoint, words):
    doubles = {name: tensor.astype(np.float64) for name, tensor in tiny_checkpoint.tensors.items()}
    expected = Engine(tiny_checkpoint.config, doubles).token_vectors(tiny_checkpoint.token_map.ids(words).characters)
    np.testing.assert_allclose(TokenTable(network, 0).vectors(network.now(), words), expected, rtol=1e-6, atol=1e-6)


def test_models_of_words_have_no_characters_to_be_cut(tiny_config):
    config = replace(tiny_config, characters="none", num_words=5, word_dim=8, token_projection=False)
    listed = {word: number for number, word in enumerate(["<S>", "</S>", "<UNK>", "a"], start=1)}
    tensors = {name: np.ones(shape, np.float32) for name, shape in network_shapes(config)}
    embedding = tensors["token_encoder.word_embedding"] = np.arange(40, dtype=np.float32).reshape(5, 8)
    checkpoint = Checkpoint(config, tensors, TokenMap(None, WordMap(listed)))
    network = EngineNetwork(checkpoint, Engine.from_checkpoint(checkpoint))
    vectors = TokenTable(network, 1000).vectors(network.now(), ["a", "<S>", "nowhere"])
    np.testing.assert_array_equal(vectors, embedding[[4, 1, 3]])
