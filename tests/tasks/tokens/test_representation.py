"""Token representation: every combination of static vectors and ELMo, frozen and remembered or live."""

import itertools

import numpy as np
import pytest
import torch

from elmo.errors import ConfigError
from elmo.layer.elmo import ELMo, load_tensors
from elmo.static.vectors import StaticVectors
from elmo.tasks.settings import TokenSettings
from elmo.tasks.tokens.frozen_layers import FrozenLayers
from elmo.tasks.tokens.representation import TokenRepresentation, TokenSources
from elmo.tasks.tokens.static_embedding import StaticEmbedding

STATIC = StaticVectors(("cat", "mat", "The"), np.arange(1, 7, dtype=np.float32).reshape(3, 2))


def settings(**values) -> TokenSettings:
    return TokenSettings(**{"elmo_dropout": 0.0, **values})


def made(settings: TokenSettings, frozen=None, static=None) -> TokenRepresentation:
    return TokenRepresentation(settings, TokenSources(frozen, None if static is None else {"static": static}))


@pytest.mark.parametrize(("static", "placement"), list(itertools.product([None, STATIC], ["input", "output", "both"])))
def test_elmo_stands_where_it_is_put_beside_the_static_vectors(bilm, tiny_corpus, static, placement):
    tokens = made(settings(placement=placement), FrozenLayers(bilm), static)
    found = tokens(tiny_corpus)
    mixes = ELMo(bilm, dropout=0.0)(tiny_corpus).mixes[0]
    width = 0 if static is None else 2
    assert found.input.shape[2] == tokens.input_dim == width + (16 if placement != "output" else 0)
    assert tokens.output_dim == (16 if placement != "input" else 0)
    assert found.mask.sum(dim=1).tolist() == [len(sentence) for sentence in tiny_corpus]
    if placement != "output":
        torch.testing.assert_close(found.input[:, :, width:], mixes)
    if placement == "input":
        assert found.output is None
    else:
        torch.testing.assert_close(found.output, mixes)
    assert (found.input[~found.mask] == 0).all()


def test_the_baseline_has_static_vectors_only_or_nothing(tiny_corpus):
    assert made(settings(encoder="none"), static=STATIC)(tiny_corpus).input.shape == (5, 16, 2)
    nothing = TokenRepresentation(settings(encoder="none"))
    assert (nothing.input_dim, nothing.output_dim, nothing.mix_weights()) == (0, 0, [])
    assert nothing(tiny_corpus).input.shape == (5, 16, 0)
    assert nothing.penalty() == 0
    assert nothing([]).input.shape == (0, 0, 0)


def test_layers_are_chosen_as_everywhere_or_a_learned_mix(bilm, tiny_corpus):
    frozen = FrozenLayers(bilm)
    layers = frozen.batch(tiny_corpus).layers[:, :, 1:-1]
    expected = {"top": layers[2], "average": layers.mean(dim=0), "mix": layers.mean(dim=0)}
    expected |= {"1": layers[1], "-3": layers[0], "0.5,0,2": 0.5 * layers[0] + 2 * layers[2]}
    for kind, wanted in expected.items():
        tokens = made(settings(layers=kind, mix_penalty=0.5), frozen)
        found = tokens(tiny_corpus)
        torch.testing.assert_close(found.input[found.mask], wanted[found.mask])
        assert tokens.mixes.by_place["input"].raw_weights.requires_grad == (kind == "mix")
        assert tokens.mixes.by_place["input"].gamma.requires_grad
        with torch.no_grad():
            tokens.mixes.by_place["input"].raw_weights.add_(torch.tensor([1.0, 2.0, 3.0]))
        assert tokens.penalty().item() == pytest.approx(7.0 if kind == "mix" else 0)


def test_two_placements_have_mixes_of_their_own(bilm, tiny_corpus):
    tokens = made(settings(placement="both"), FrozenLayers(bilm))
    with torch.no_grad():
        tokens.mixes.by_place["output"].gamma.fill_(2.0)
    found = tokens(tiny_corpus)
    torch.testing.assert_close(found.output, 2 * found.input)
    assert [mix["placement"] for mix in tokens.mix_weights()] == ["input", "output"]


@pytest.mark.parametrize("layer_norm", ["words", "token"])
def test_layer_norm_is_that_of_the_elmo_layer(bilm, tiny_corpus, layer_norm):
    tokens = made(settings(layer_norm=layer_norm), FrozenLayers(bilm))
    expected = ELMo(bilm, dropout=0.0, layer_norm=layer_norm)(tiny_corpus).mixes[0]
    torch.testing.assert_close(tokens(tiny_corpus).input, expected)


def test_dropout_is_elmos_alone_and_only_in_training(bilm, tiny_corpus):
    torch.manual_seed(0)
    tokens = made(settings(elmo_dropout=0.5), FrozenLayers(bilm), STATIC)
    dropped, plain = tokens.train()(tiny_corpus), tokens.eval()(tiny_corpus)
    assert torch.equal(dropped.input[:, :, :2], plain.input[:, :, :2])
    share = (dropped.input[dropped.mask][:, 2:] == 0).float().mean()
    assert 0.4 < share < 0.6


def test_a_frozen_bilm_has_no_gradient_and_a_trained_one_is_a_copy(bilm, tiny_corpus):
    frozen = FrozenLayers(bilm)
    tokens = made(settings(), frozen)
    tokens(tiny_corpus).input.sum().backward()
    assert tokens.mixes.by_place["input"].raw_weights.grad is not None
    assert all(parameter.grad is None for parameter in bilm.parameters())
    trained = made(settings(train_bilm=True), frozen)
    trained(tiny_corpus).input.square().sum().backward()
    assert all(parameter.grad is not None for parameter in trained.live.bilm.parameters())
    assert all(parameter.grad is None and not parameter.requires_grad for parameter in bilm.parameters())
    torch.testing.assert_close(trained.eval()(tiny_corpus).input, tokens(tiny_corpus).input)


def test_static_vectors_are_found_as_written_or_in_lower_case():
    embedding = StaticEmbedding(STATIC)
    found = embedding([["cat", "Cat", "the", "The", "dog"], ["MAT"]])
    assert found.tolist() == [
        [[1, 2], [1, 2], [0, 0], [5, 6], [0, 0]],
        [[3, 4], [0, 0], [0, 0], [0, 0], [0, 0]],
    ]
    assert not embedding.trained.requires_grad


def test_only_the_words_of_training_are_trained():
    embedding = StaticEmbedding(STATIC, ["cat", "dog"])
    sentences = [["cat", "dog", "mat", "fish"]]
    torch.testing.assert_close(embedding(sentences), torch.tensor([[[1.0, 2], [0, 0], [3, 4], [0, 0]]]))
    embedding(sentences).sum().backward()
    assert embedding.trained.grad.tolist() == [[0, 0], [1, 1], [1, 1]]
    again = StaticEmbedding(embedding.vectors(), ["cat", "dog"])
    torch.testing.assert_close(again(sentences), embedding(sentences))


def test_a_trained_word_that_the_file_has_in_lower_case_starts_from_that_vector():
    embedding = StaticEmbedding(STATIC, ["Cat", "cat", "MAT", "The"])
    found = embedding([["Cat", "cat", "MAT", "mat", "The"]])
    assert found.tolist() == [[[1, 2], [1, 2], [3, 4], [3, 4], [5, 6]]]
    embedding([["Cat", "mat"]]).sum().backward()
    assert embedding.trained.grad.tolist() == [[0, 0], [1, 1], [0, 0], [0, 0], [0, 0]]


def test_what_was_learned_is_all_but_a_frozen_bilm(bilm):
    frozen = FrozenLayers(bilm)
    names = set(made(settings(), frozen).state_dict())
    assert names == {"mixes.by_place.input.raw_weights", "mixes.by_place.input.gamma"}
    trained = made(settings(train_bilm=True), frozen)
    assert len(trained.state_dict()) == len(names) + len(bilm.state_dict())


def test_what_was_learned_goes_into_an_equal_model_only(bilm):
    one, other = (made(settings(), FrozenLayers(bilm)) for _ in range(2))
    torch.nn.init.normal_(one.mixes.by_place["input"].raw_weights)
    load_tensors(other.state_dict(), one.state_dict())
    assert torch.equal(one.mixes.by_place["input"].raw_weights, other.mixes.by_place["input"].raw_weights)
    with pytest.raises(ConfigError, match="'mixes.by_place.input.gamma' has shape .*settings"):
        load_tensors(made(settings(encoder="none")).state_dict(), one.state_dict())


def test_an_encoder_needs_its_bilm(bilm):
    with pytest.raises(ConfigError, match="encoder must be 'none' exactly where"):
        TokenRepresentation(settings())
    with pytest.raises(ConfigError, match="encoder must be 'none' exactly where"):
        made(settings(encoder="none"), FrozenLayers(bilm))
