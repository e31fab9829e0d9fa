"""TokenEncoder: against elmo.reference, and its errors."""

import numpy as np
import pytest
import torch

from elmo import reference
from elmo.config import BiLMConfig
from elmo.errors import ConfigError
from elmo.model.token_encoder import TokenEncoder
from elmo.text.characters import CharacterMap

TOKENS = ["a", "", "cat", "일본어", "x" * 60, "<S>", "</S>", "\x00"]


def encoder(seed=0, **settings):
    torch.manual_seed(seed)
    return TokenEncoder(BiLMConfig(**{"cell_size": 16, "projection_size": 8, "filters": ((1, 4), (3, 6))} | settings))


def character_ids(tokens=TOKENS):
    return torch.from_numpy(CharacterMap.for_bytes().ids(tokens))


def plainly(encoder, ids):
    """The reference, a token at a time."""
    tensors = {f"token_encoder.{name}": tensor.double().numpy() for name, tensor in encoder.state_dict().items()}
    return np.array([reference.token_vector(encoder.config, tensors, row) for row in ids])


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("num_highway", [0, 1, 2])
def test_vectors_equal_the_reference(activation, num_highway):
    network, ids = encoder(activation=activation, num_highway=num_highway).double(), character_ids()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter[1:].normal_()  # not row 0 of the embedding, and away from the small initial values
        found = network(ids)
    np.testing.assert_allclose(found, plainly(network, ids.numpy()), rtol=1e-9, atol=1e-9)


def test_ids_may_be_of_any_integer_type():
    network, ids = encoder(), character_ids()
    assert ids.dtype == torch.int16
    for dtype in (torch.int32, torch.int64):
        assert torch.equal(network(ids.to(dtype)), network(ids))


def test_initial_values_are_those_of_bilm_tf():
    network = encoder(filters=((2, 4000),), character_dim=16, num_highway=0)
    assert network.character_embedding[0].abs().max() == 0
    assert 0.9 < network.character_embedding.abs().max() <= 1
    assert 0.049 < network.convolutions[0].weight.abs().max() <= 0.05
    assert not network.convolutions[0].bias.any()
    assert network.projection.weight.std().item() == pytest.approx(4000**-0.5, rel=0.05)
    tanh = encoder(filters=((2, 4000),), character_dim=16, num_highway=0, activation="tanh")
    assert tanh.convolutions[0].weight.std().item() == pytest.approx((1 / 32) ** 0.5, rel=0.05)
    assert encoder(num_highway=1).highways[0].gate.bias.tolist() == [-2.0] * 10


def test_word_vectors_alone_may_go_without_projection():
    network = encoder(characters="none", num_words=5, word_dim=8, token_projection=False)
    assert torch.equal(network(None, torch.tensor([3, 0])), network.word_embedding[[3, 0]])
    assert not network(None, torch.tensor([0])).any()


def test_missing_ids_are_named():
    with pytest.raises(ConfigError, match="character_ids is None, but this model takes"):
        encoder()(None)
    with pytest.raises(ConfigError, match="word_ids is None, but this model takes"):
        encoder(num_words=5, word_dim=3)(character_ids())


def test_ids_of_another_width_are_refused():
    with pytest.raises(ConfigError, match=r"shape \(8, 50\), .*, 20 for each token"):
        encoder(max_characters_per_token=20)(character_ids())
