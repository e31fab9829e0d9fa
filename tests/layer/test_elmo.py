"""ELMo: what a downstream model sees of it."""

import copy
import inspect

import numpy as np
import pytest
import torch

from elmo.config import BiLMConfig
from elmo.errors import ConfigError
from elmo.layer.elmo import ELMo
from elmo.model.bilm import BiLM
from elmo.text.token_map import TokenMap, WordMap

CLOSE = 1e-6  # float32 sums in another order


@pytest.fixture
def elmo(tiny_bilm):
    return ELMo(tiny_bilm).eval()


def vectors(elmo, sentences):
    return elmo(sentences).mixes[0].detach()


def test_a_mix_is_the_mean_of_the_layers_without_boundaries(elmo, tiny_corpus):
    output = elmo(tiny_corpus)
    assert output.mixes[0].shape == (5, 16, 16)
    assert output.mask.sum(dim=1).tolist() == [len(sentence) for sentence in tiny_corpus]
    layers = elmo.bilm(elmo.character_ids(tiny_corpus)).layers
    for row, sentence in enumerate(tiny_corpus):
        expected = layers[:, row, 1 : len(sentence) + 1].mean(dim=0)
        assert torch.allclose(output.mixes[0][row, : len(sentence)], expected, atol=CLOSE)


@pytest.mark.parametrize("keep_boundaries", [False, True])
@pytest.mark.parametrize("layer_norm", [False, True, "boundaries", "words", "token"])
def test_vectors_are_zero_where_there_is_no_token_even_with_dropout(
    tiny_bilm, tiny_corpus, layer_norm, keep_boundaries
):
    elmo = ELMo(tiny_bilm, num_mixes=2, layer_norm=layer_norm, keep_boundaries=keep_boundaries).train()
    output = elmo(tiny_corpus)
    for mixed in output.mixes:
        assert not mixed[~output.mask].any()
        assert mixed[output.mask].any(dim=1).all()


def test_dropout_falls_on_each_mix_by_itself_in_training_only(tiny_bilm, tiny_corpus):
    torch.manual_seed(0)
    elmo = ELMo(tiny_bilm, num_mixes=2, dropout=0.5)
    whole = elmo.eval()(tiny_corpus)
    dropped = elmo.train()(tiny_corpus)
    kept = [mixed[dropped.mask] != 0 for mixed in dropped.mixes]
    for mask, mixed, before in zip(kept, dropped.mixes, whole.mixes, strict=True):
        assert 0.4 < mask.float().mean() < 0.6
        assert torch.allclose(mixed[dropped.mask][mask], 2 * before[whole.mask][mask], atol=CLOSE)
    assert not torch.equal(*kept)


def test_ids_and_sentences_give_the_same(elmo, tiny_corpus):
    by_text, by_ids = elmo(tiny_corpus), elmo(elmo.character_ids(tiny_corpus))
    assert torch.equal(by_text.mask, by_ids.mask)
    assert torch.allclose(by_text.mixes[0], by_ids.mixes[0], atol=CLOSE)


def test_a_string_is_split_at_white_space(elmo):
    assert torch.equal(vectors(elmo, ["the cat  sat\t."]), vectors(elmo, [["the", "cat", "sat", "."]]))
    assert torch.equal(elmo.character_ids(["the cat"]), elmo.character_ids([["the", "cat"]]))


def test_groups_of_sentences_are_rows_of_their_own(elmo, tiny_corpus):
    ids = elmo.character_ids(tiny_corpus[:4])
    flat, grouped = elmo(ids), elmo(ids.unflatten(0, (2, 2)))
    assert torch.equal(grouped.mixes[0].flatten(0, 1), flat.mixes[0])
    assert torch.equal(grouped.mask.flatten(0, 1), flat.mask)


@pytest.mark.parametrize("layer_norm", [False, "boundaries", "words", "token"])
@pytest.mark.parametrize(("sentences", "shape"), [([], (0, 0, 16)), ([[]], (1, 0, 16)), ([[], []], (2, 0, 16))])
def test_nothing_to_read_gives_nothing(tiny_bilm, layer_norm, sentences, shape):
    elmo = ELMo(tiny_bilm, layer_norm=layer_norm)
    for given in (sentences, elmo.character_ids(sentences)):
        output = elmo(given)
        assert output.mixes[0].shape == shape
        assert output.mask.shape == shape[:2]


def test_each_distinct_word_is_encoded_once(elmo, monkeypatch):
    seen = []
    encode = elmo.bilm.token_encoder.forward
    monkeypatch.setattr(elmo.bilm.token_encoder, "forward", lambda *ids: seen.append(len(ids[0])) or encode(*ids))
    sentences = [["a", "b", "a"], ["b"] * 9, ["a", "</S>"]]
    elmo(sentences)
    elmo(elmo.character_ids(sentences))
    assert seen == [5, 5]  # both boundaries, a, b, and the row of padding


def test_a_frozen_bilm_stays_in_evaluation_mode_and_out_of_the_graph(tiny_bilm, tiny_corpus):
    elmo = ELMo(tiny_bilm, num_mixes=2)
    model = torch.nn.Sequential(elmo).train()
    assert not elmo.bilm.training
    assert elmo.training
    assert [name for name, parameter in model.named_parameters() if parameter.requires_grad] == [
        f"0.mixes.{number}.{part}" for number in range(2) for part in ("raw_weights", "gamma")
    ]
    output = elmo(tiny_corpus)
    (output.mixes[0].sum() + output.mixes[1].sum()).backward()
    assert all(parameter.grad is not None for parameter in elmo.mixes.parameters())
    assert all(parameter.grad is None for parameter in elmo.bilm.parameters())


def test_a_trainable_bilm_is_trained_whole(tiny_bilm, tiny_corpus):
    ELMo(tiny_bilm)
    elmo = ELMo(tiny_bilm, trainable=True).train()
    assert elmo.bilm.training
    elmo(tiny_corpus).mixes[0].sin().sum().backward()
    assert all(parameter.grad.any() for parameter in elmo.parameters())
    assert not elmo.bilm.token_encoder.character_embedding.grad[0].any()


def test_a_frozen_bilm_whose_gradients_are_switched_on_is_not_silently_left_untrained(tiny_bilm, tiny_corpus):
    elmo = ELMo(tiny_bilm).train()
    elmo.requires_grad_(True)
    with pytest.raises(ConfigError, match=r"trainable=False, but .* unfrozen since"):
        elmo(tiny_corpus)
    with torch.no_grad():
        elmo(tiny_corpus)
    elmo.eval()(tiny_corpus)
    elmo.train().bilm.requires_grad_(False)
    elmo(tiny_corpus)


def test_a_bilm_that_another_elmo_has_frozen_is_not_silently_left_untrained(tiny_bilm, tiny_corpus):
    trained = ELMo(tiny_bilm, trainable=True)
    tiny_bilm.requires_grad_(False)  # by hand, as before gradual unfreezing
    trained(tiny_corpus)
    frozen = ELMo(tiny_bilm)
    with pytest.raises(ConfigError, match=r"the biLM's weights were frozen since"):
        trained(tiny_corpus)
    frozen(tiny_corpus)
    trained.eval()(tiny_corpus)
    copy.deepcopy(trained).train()(tiny_corpus)
    ELMo(tiny_bilm, trainable=True)
    trained.train()(tiny_corpus).mixes[0].sum().backward()
    assert all(parameter.grad is not None for parameter in tiny_bilm.parameters())


def test_ids_of_a_type_that_cannot_hold_them_are_refused(elmo, tiny_corpus):
    ids = elmo.character_ids(tiny_corpus)
    torch.testing.assert_close(vectors(elmo, ids.short()), vectors(elmo, ids))
    with pytest.raises(ConfigError, match=r"is torch\.int8 .*, of torch\.int16 or wider, 50 for each"):
        elmo(ids.to(torch.int8))


def test_gradients_equal_finite_differences(tiny_corpus):
    torch.manual_seed(3)
    config = BiLMConfig(cell_size=4, projection_size=3, filters=((1, 2), (2, 2)), character_dim=2, num_highway=1)
    elmo = ELMo(BiLM(config), trainable=True, dropout=0.0, layer_norm=True).double()
    names, values = zip(*elmo.named_parameters(), strict=True)

    def mixed(*tensors):
        return torch.func.functional_call(elmo, dict(zip(names, tensors, strict=True)), (tiny_corpus[:4],)).mixes[0]

    inputs = [(value.detach() * 3).requires_grad_() for value in values]
    assert torch.autograd.gradcheck(mixed, inputs, fast_mode=True)


def test_settings_say_which_parts_of_a_mix_are_trained(tiny_bilm, tiny_corpus):
    layers = tiny_bilm(ELMo(tiny_bilm).character_ids(tiny_corpus)).layers[:, :, 1:-1].detach()
    for settings, trained, expected in (
        ({}, [True, True], layers.mean(dim=0)),
        ({"train_gamma": False}, [True, False], layers.mean(dim=0)),
        ({"layers": "average"}, [False, True], layers.mean(dim=0)),
        ({"layers": 1, "train_gamma": False}, [False, False], layers[1]),
        ({"layers": "top"}, [False, True], layers[2]),
        ({"layers": (0.5, 0.0, 1.0)}, [False, True], 0.5 * layers[0] + layers[2]),
    ):
        elmo = ELMo(tiny_bilm, num_mixes=2, **settings).eval()
        assert [parameter.requires_grad for parameter in elmo.mixes.parameters()] == trained * 2
        output = elmo(tiny_corpus)
        for mixed in output.mixes:
            assert torch.allclose(mixed[output.mask], expected[output.mask], atol=CLOSE)


def test_the_mix_penalty_sums_over_mixes_and_leaves_out_what_is_fixed(tiny_bilm):
    elmo = ELMo(tiny_bilm, num_mixes=2)
    with torch.no_grad():
        elmo.mixes[0].raw_weights.copy_(torch.tensor([1.0, 2.0, 0.0]))
        elmo.mixes[1].raw_weights.copy_(torch.tensor([0.0, 0.0, -3.0]))
    assert elmo.mix_penalty(1e-3).item() == pytest.approx(14e-3)
    assert ELMo(tiny_bilm, layers=1).mix_penalty(1.0).item() == 0
    assert ELMo(tiny_bilm, layers="top").mix_penalty(1.0).item() == 0


def test_mix_weights_are_plain_numbers(tiny_bilm):
    elmo = ELMo(tiny_bilm, num_mixes=2)
    with torch.no_grad():
        elmo.mixes[1].raw_weights.copy_(torch.tensor([0.0, 0.0, 1.0]).log())
        elmo.mixes[1].gamma.fill_(2.5)
    uniform, last = elmo.mix_weights()
    assert uniform == {"weights": [pytest.approx(1 / 3)] * 3, "gamma": 1.0}
    assert last == {"weights": [0.0, 0.0, 1.0], "gamma": 2.5}


def test_a_layer_norm_over_words_leaves_the_boundaries_out(tiny_bilm, tiny_corpus):
    """That over boundaries too is AllenNLP's: the golden mixes have it."""
    layers = tiny_bilm(ELMo(tiny_bilm).character_ids(tiny_corpus)).layers
    words = torch.zeros(layers.shape[1:3], dtype=torch.bool)
    for row, sentence in enumerate(tiny_corpus):
        words[row, 1 : len(sentence) + 1] = True
    output = ELMo(tiny_bilm, layer_norm="words").eval()(tiny_corpus)
    expected = torch.stack([(layer - layer[words].mean()) / layer[words].std(correction=0) for layer in layers])
    assert torch.allclose(output.mixes[0][output.mask], expected.mean(dim=0)[words], atol=CLOSE)


@pytest.mark.parametrize("trainable", [False, True])
def test_what_was_learned_can_be_kept_without_the_pretrained_model(tiny_bilm, tiny_corpus, trainable):
    original = copy.deepcopy(tiny_bilm)
    elmo = ELMo(tiny_bilm, num_mixes=2, trainable=trainable)
    with torch.no_grad():
        for parameter in elmo.parameters():
            if parameter.requires_grad:
                parameter.add_(0.1 * torch.randn_like(parameter))
    learned = elmo.learned_state_dict()
    assert any(name.startswith("bilm.") for name in learned) == trainable
    again = ELMo(original, num_mixes=2, trainable=trainable)
    again.load_learned_state_dict({name: tensor.numpy() for name, tensor in learned.items()})
    for one, other in zip(elmo.eval()(tiny_corpus).mixes, again.eval()(tiny_corpus).mixes, strict=True):
        assert torch.equal(one, other)


def test_learned_tensors_of_another_elmo_are_refused(tiny_bilm):
    elmo = ELMo(tiny_bilm)
    with pytest.raises(ConfigError, match="'mixes.1.gamma' has shape \\(1,\\) among the saved tensors, but None here"):
        elmo.load_learned_state_dict(ELMo(tiny_bilm, num_mixes=2).learned_state_dict())
    with pytest.raises(ConfigError, match="'mixes.0.raw_weights' has shape \\(2,\\)"):
        elmo.load_learned_state_dict({**elmo.learned_state_dict(), "mixes.0.raw_weights": np.zeros(2)})


def test_autocast_around_it_does_not_reach_the_bilm(elmo, tiny_corpus):
    plain = vectors(elmo, tiny_corpus)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(vectors(elmo, tiny_corpus), plain)


def test_the_mixes_are_where_the_bilm_is_whatever_torchs_default_device(tiny_bilm, tiny_corpus, elmo):
    with torch.device("meta"):
        by_default = ELMo(tiny_bilm, dropout=0.0, layers=[0.5, 0.25, 0.25])
    assert torch.isfinite(vectors(by_default, tiny_corpus)).all()
    moved = ELMo(copy.deepcopy(tiny_bilm).to("meta"))
    assert moved(tiny_corpus).mixes[0].device == torch.device("meta")


def replica(module):
    """As `nn.DataParallel` makes it on each GPU: tensors in the places of the parameters."""
    made = module._replicate_for_data_parallel()
    for name, weight in module._parameters.items():
        if weight is None:
            made._parameters[name] = None
        else:
            setattr(made, name, weight.detach().clone())
    made._modules = {name: replica(part) for name, part in module._modules.items()}
    return made


def test_a_replica_of_data_parallel_gives_the_same(elmo, tiny_corpus):
    ids = elmo.character_ids(tiny_corpus)
    torch.testing.assert_close(replica(elmo)(ids).mixes[0], elmo(ids).mixes[0])


def test_from_pretrained_takes_the_same_settings(tiny_bilm, tiny_corpus, tmp_path):
    tiny_bilm.save_pretrained(tmp_path / "model")
    elmo = ELMo.from_pretrained(tmp_path / "model", num_mixes=3, keep_boundaries=True, dropout=0.0)
    assert elmo.output_dim == 16
    expected = ELMo(tiny_bilm, keep_boundaries=True).eval()(tiny_corpus).mixes[0]
    assert len(elmo(tiny_corpus).mixes) == 3
    assert all(torch.equal(mixed, expected) for mixed in elmo(tiny_corpus).mixes)


def test_a_model_of_words_is_called_with_sentences(tiny_config):
    config = BiLMConfig(
        characters="none", num_words=5, word_dim=8, token_projection=False, cell_size=16, projection_size=8
    )
    elmo = ELMo(BiLM(config, TokenMap(None, WordMap({"<S>": 1, "</S>": 2, "<UNK>": 3, "cat": 4})))).eval()
    assert elmo([["cat", "dog"], []]).mask.tolist() == [[True, True], [False, False]]
    with pytest.raises(ConfigError, match="reads words, not characters"):
        elmo.character_ids([["cat"]])
    with pytest.raises(ConfigError, match="of a model without words"):
        elmo(torch.ones(1, 1, 50, dtype=torch.int64))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_mixes": 0}, "num_mixes must be a whole number from 1 to 1,000 .got 0"),
        ({"dropout": 1.5}, "dropout must be a probability.*got 1.5"),
        ({"layers": "all"}, "layers is 'all'. Use 'mix'"),
        ({"layers": (1.0, -1.0, 0.0)}, "or weights of 0 or more"),
        ({"layers": (0.0, 0.0, 0.0)}, "not all of them 0"),
        ({"layers": "botom"}, "layers is 'botom', but the model has"),
    ],
)
def test_settings_that_make_no_sense_are_refused(tiny_bilm, settings, message):
    with pytest.raises(ConfigError, match=message):
        ELMo(tiny_bilm, **settings)


def test_inputs_that_make_no_sense_are_refused(elmo):
    with pytest.raises(ConfigError, match="must be a list of sentences"):
        elmo("the cat")
    for call in (inspect.unwrap(ELMo.forward).__get__(elmo), elmo.character_ids):  # without the tests' check of shapes
        with pytest.raises(ConfigError, match="flat list of words"):
            call(["The", "bank"])
    with pytest.raises(ConfigError, match="this model takes ids from 0 to 261, .*50"):
        elmo(torch.ones(1, 2, 20, dtype=torch.int64))
    with pytest.raises(ConfigError, match=r"character ids must be integers .*\(2, 50\)"):
        elmo(torch.ones(2, 50, dtype=torch.int64))
