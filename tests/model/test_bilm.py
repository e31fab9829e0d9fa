"""BiLM: boundaries, masks, states, directions; padding is inert; each sentence is on its own."""

import inspect
from dataclasses import replace

import numpy as np
import pytest
import torch

from elmo import reference
from elmo.config import BiLMConfig
from elmo.errors import ConfigError
from elmo.layer.elmo import ELMo
from elmo.layer.on_engine import padded_ids
from elmo.model.bilm import BiLM, BiLMState
from elmo.text.token_map import TokenMap, WordMap

CLOSE = 1e-6  # float32 sums in another order
WORDS = {"<S>": 1, "</S>": 2, "<UNK>": 3, "cat": 4, "sat": 5}


def ids_of(bilm, sentences):
    return padded_ids(bilm, sentences)[0]


@torch.no_grad()
def run(bilm, sentences, state=None):
    return bilm(ids_of(bilm, sentences), state=state)


def largest_difference(one, other):
    return (one - other).abs().max().item() if one.numel() else 0.0


def test_layers_equal_the_reference(tiny_bilm):
    bilm, sentence = tiny_bilm.double(), ["the", "cat", "sat"]
    tensors = {name: tensor.numpy() for name, tensor in bilm.state_dict().items()}
    layers = run(bilm, [sentence, ["x"] * 5]).layers
    np.testing.assert_allclose(layers[:, 0, 1:4], reference.embed(bilm.config, tensors, sentence), atol=1e-12)


def test_a_batch_of_mixed_lengths_equals_one_by_one(tiny_bilm, tiny_corpus):
    together = run(tiny_bilm, tiny_corpus)
    for row, sentence in enumerate(tiny_corpus):
        alone, length = run(tiny_bilm, [sentence]), len(sentence) + 2
        assert largest_difference(together.layers[:, row, :length], alone.layers[:, 0]) < CLOSE
        assert largest_difference(together.state.hidden[:, row], alone.state.hidden[:, 0]) < CLOSE
        assert largest_difference(together.state.cell[:, row], alone.state.cell[:, 0]) < CLOSE


@pytest.mark.parametrize("garbage", [float("nan"), float("inf"), 1e30])
def test_vectors_beyond_a_rows_length_change_nothing(tiny_bilm, garbage):
    vectors = torch.randn(3, 7, 8, generator=torch.Generator().manual_seed(0))
    lengths = torch.tensor([7, 0, 3])
    beyond = torch.arange(7)[None, :] >= lengths[:, None]
    outputs = []
    for filler in (0.0, garbage):
        filled = vectors.masked_fill(beyond[:, :, None], filler).requires_grad_()
        output = tiny_bilm.contextualize(filled, lengths)
        tiny_bilm.zero_grad()
        output.layers.sum().backward()
        gradients = [parameter.grad.clone() for parameter in tiny_bilm.lstms[0].parameters()]
        outputs.append([output.layers, output.state.hidden, output.state.cell, filled.grad, *gradients])
    for clean, dirty in zip(*outputs, strict=True):
        assert torch.equal(clean, dirty)
    assert not outputs[0][3][beyond].any()


def test_a_sentence_in_two_pieces_with_the_state_equals_it_in_one(tiny_bilm):
    """True for the forward language model, whose state after a piece is where the next one starts."""
    vectors = torch.randn(2, 9, 8, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        whole = tiny_bilm.contextualize(vectors, torch.tensor([9, 9]))
        first = tiny_bilm.contextualize(vectors[:, :4], torch.tensor([4, 4]))
        second = tiny_bilm.contextualize(vectors[:, 4:], torch.tensor([5, 5]), first.state)
    assert largest_difference(whole.layers[:, :, 4:, :8], second.layers[:, :, :, :8]) < CLOSE
    assert largest_difference(whole.state.cell[:, :, :16], second.state.cell[:, :, :16]) < CLOSE


def test_a_row_without_tokens_keeps_its_state(tiny_bilm):
    state = BiLMState(torch.randn(2, 2, 16), torch.randn(2, 2, 32))
    with torch.no_grad():
        output = tiny_bilm.contextualize(torch.randn(2, 3, 8), torch.tensor([0, 3]), state)
    assert torch.equal(output.state.hidden[:, 0], state.hidden[:, 0])
    assert torch.equal(output.state.cell[:, 0], state.cell[:, 0])
    assert not torch.equal(output.state.cell[:, 1], state.cell[:, 1])


def test_the_state_given_is_left_as_it_was(tiny_bilm, tiny_corpus):
    state = run(tiny_bilm, tiny_corpus).state
    before = state.hidden.clone(), state.cell.clone()
    run(tiny_bilm, tiny_corpus, state)
    assert torch.equal(state.hidden, before[0])
    assert torch.equal(state.cell, before[1])


def test_no_sentences_have_no_vectors(tiny_bilm):
    assert run(tiny_bilm, []).layers.shape == (3, 0, 2, 16)
    nothing = tiny_bilm.contextualize(torch.zeros(2, 0, 8), torch.zeros(2, dtype=torch.int64))
    assert nothing.layers.shape == (3, 2, 0, 16)
    with torch.no_grad():
        assert tiny_bilm.contextualize(torch.zeros(0, 0, 8), torch.zeros(0).long()).layers.shape == (3, 0, 0, 16)


def test_a_token_behind_padding_is_refused(tiny_bilm):
    ids = ids_of(tiny_bilm, [["a", "b", "c"], ["a", "b", "c"]])
    ids[1, 1] = 0
    with pytest.raises(ConfigError, match="row 1 of the ids has a token after one of zeros"):
        tiny_bilm(ids)


@pytest.mark.parametrize("wrong", [262, -1])
def test_an_id_the_model_has_no_row_for_is_refused(tiny_bilm, wrong):
    ids = ids_of(tiny_bilm, [["a", "b"]])
    ids[0, 1, 3] = wrong
    with pytest.raises(ConfigError, match=f"character_ids is .*{wrong}.*, but this model takes ids from 0 to 261"):
        tiny_bilm(ids)


def test_boundary_tokens_in_a_text_are_the_boundaries(tiny_bilm):
    output = run(tiny_bilm, [["<S>", "</S>", "<s>"]])
    token_layer = output.layers[0, 0]
    assert torch.equal(token_layer[1], token_layer[0])
    assert torch.equal(token_layer[2], token_layer[4])
    assert not torch.equal(token_layer[3], token_layer[0])


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_one_direction_alone_is_half_of_both(tiny_bilm, tiny_corpus, direction):
    one = BiLM(replace(tiny_bilm.config, direction=direction))
    one.load_state_dict({name: t for name, t in tiny_bilm.state_dict().items() if name in one.state_dict()})
    half = slice(0, 8) if direction == "forward" else slice(8, 16)
    assert largest_difference(run(one, tiny_corpus).layers, run(tiny_bilm, tiny_corpus).layers[..., half]) < CLOSE


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"skip_connections": False},
        {"cell_clip": None, "projection_clip": None},
        {"cell_clip": 0.1, "projection_clip": 0.05},
        {"cell_size": 8},
        {"num_layers": 3, "num_highway": 0},
        {"forget_bias": 0.0},
    ],
)
def test_every_architecture_gives_the_same_with_and_without_gradients(tiny_config, tiny_corpus, settings):
    torch.manual_seed(0)
    bilm = BiLM(replace(tiny_config, **settings))
    assert largest_difference(bilm(ids_of(bilm, tiny_corpus)).layers, run(bilm, tiny_corpus).layers) < CLOSE


@pytest.mark.parametrize("characters", ["none", "bytes"])
def test_models_may_read_words(tiny_config, tiny_bilm, characters):
    config = replace(tiny_config, characters=characters, num_words=6, word_dim=5)
    token_map = TokenMap(tiny_bilm.token_map.characters if characters == "bytes" else None, WordMap(WORDS))
    bilm = BiLM(config, token_map)
    words = torch.tensor([[4, 5, 3], [5, 0, 0]])
    ids = ids_of(bilm, [["cat", "sat", "dog"], ["sat"]]) if characters == "bytes" else None
    output = bilm(ids, words)
    assert output.mask.sum(dim=1).tolist() == [5, 3]
    expected = bilm.vectors_of(["<S>", "sat", "</S>"])
    assert torch.allclose(output.layers[0, 1, :3, :8], expected, atol=1e-6)
    with pytest.raises(ConfigError, match="word_ids is .* to 6, but this model takes ids from 0 to 5"):
        bilm(ids, torch.tensor([[4, 6, 3], [5, 0, 0]]))


def test_a_model_with_words_needs_a_token_map():
    with pytest.raises(ConfigError, match="has no fixed ids. Pass BiLM"):
        BiLM(BiLMConfig(num_words=4, word_dim=2))


def test_two_networks_of_one_checkpoint_are_trained_apart(tiny_bilm):
    checkpoint = tiny_bilm.to_checkpoint()
    before = {name: array.copy() for name, array in checkpoint.tensors.items()}
    one, other = BiLM.from_checkpoint(checkpoint), BiLM.from_checkpoint(checkpoint)
    with torch.no_grad():
        for parameter in [*one.parameters(), *tiny_bilm.parameters()]:
            parameter.add_(1)
    for name, array in before.items():
        np.testing.assert_array_equal(checkpoint.tensors[name], array)
        np.testing.assert_array_equal(other.state_dict()[name], array)


@pytest.mark.parametrize(("owner", "takes"), [(BiLM, "a BiLMConfig"), (ELMo, "a BiLM")])
def test_a_name_in_place_of_a_network_ends_in_the_call_that_loads_it(owner, takes):
    unchecked = inspect.unwrap(owner.__init__)  # the tests check types, users' calls aren't checked
    with pytest.raises(ConfigError) as caught:
        unchecked(owner.__new__(owner), "small-en")
    assert f"{owner.__name__}(...) was given 'small-en', but takes {takes}. " in str(caught.value)
    assert str(caught.value).endswith(f"by {owner.__name__}.from_pretrained('small-en').")
