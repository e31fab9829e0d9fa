"""A biLM in torch and the engine: who computes when, and which changes of weights are seen."""

import copy
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations, prune

from elmo.embed.embedder import Embedder
from elmo.errors import ConfigError
from elmo.layer.elmo import ELMo
from elmo.layer.on_engine import engine_of
from elmo.model.bilm import BiLM

CLOSE = 1e-5  # float32 sums in another order


@torch.no_grad()
def runs_on_engine(bilm) -> bool:
    return engine_of(bilm) is not None


@torch.no_grad()
def fresh(bilm, sentences):
    """The vectors of the weights as they are, by a network that has never been read."""
    return ELMo(copy.deepcopy(bilm), dropout=0.0)(sentences).mixes[0]


# Changes of one number, one row, one column and everything; and what torch counts of them.
PLACES = {
    "number": (3, 5),
    "row": (3, slice(None)),
    "column": (slice(None), 5),
    "all but one column": (slice(None), slice(1, None)),
}


def written_through_data(weight, place):
    weight.data[place] += 0.5


def written_through_numpy(weight, place):
    weight.detach().numpy()[place] += 0.5


def copied(weight, place):
    values = weight.detach().clone()
    values[place] += 0.5
    with torch.no_grad():
        weight.copy_(values)


def set_to_other_memory(weight, place):
    values = weight.detach().clone()
    values[place] += 0.5
    weight.data = values


def set_in_place(weight, place):
    values = weight.detach().clone()
    values[place] += 0.5
    with torch.no_grad():
        weight.set_(values)


def in_another_thread(weight, place):
    thread = threading.Thread(target=copied, args=(weight, place))
    thread.start()
    thread.join()


def in_inference_mode(weight, place):
    with torch.inference_mode():
        copied(weight, place)


WAYS = [copied, set_to_other_memory, set_in_place, in_another_thread, in_inference_mode]
WAYS += [written_through_data, written_through_numpy]
WEIGHTS = [
    "token_encoder.projection.weight",
    "forward_lstm.layers.0.input_weight",
    "backward_lstm.layers.1.recurrent_weight",
]


def readers(bilm, trainable=False):
    """All that reads a biLM without gradients: each gives the average of the layers, a row a token."""
    elmo, embedder = ELMo(bilm, dropout=0.0, trainable=trainable).eval(), Embedder(bilm)

    @torch.no_grad()
    def by_elmo(elmo, sentences):
        output = elmo(sentences)
        return output.mixes[0][output.mask].numpy()

    return {
        "ELMo": lambda sentences: by_elmo(elmo, sentences),
        "new ELMo": lambda sentences: by_elmo(ELMo(bilm, dropout=0.0, trainable=trainable).eval(), sentences),
        "Embedder": lambda sentences: np.concatenate(embedder.embed(sentences, "average")),
        "new Embedder": lambda sentences: np.concatenate(Embedder(bilm).embed(sentences, "average")),
    }


@torch.no_grad()
def assert_all_see(found, bilm, sentences):
    expected = ELMo(copy.deepcopy(bilm), dropout=0.0).eval()(sentences)
    for name, read in found.items():
        np.testing.assert_allclose(
            read(sentences), expected.mixes[0][expected.mask].numpy(), rtol=0, atol=CLOSE, err_msg=name
        )


@pytest.mark.parametrize(
    ("name", "place", "trainable"),
    [
        *((WEIGHTS[0], place, trainable) for place in PLACES.values() for trainable in (False, True)),
        *((name, PLACES["number"], False) for name in WEIGHTS[1:]),
    ],
    ids=str,
)
@pytest.mark.parametrize("change", WAYS)
def test_every_change_of_a_weight_is_seen_by_all_that_read_it(tiny_bilm, tiny_corpus, change, place, name, trainable):
    found = readers(tiny_bilm, trainable)
    assert_all_see(found, tiny_bilm, tiny_corpus)
    hash_before = Embedder(tiny_bilm).model_hash
    change(tiny_bilm.get_parameter(name), place)
    assert runs_on_engine(tiny_bilm)
    assert_all_see(found, tiny_bilm, tiny_corpus)
    assert Embedder(tiny_bilm).model_hash != hash_before


@pytest.mark.parametrize("settings", [{}, {"fused": True}, {"foreach": True}])
@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.AdamW, torch.optim.Adagrad])
def test_a_training_between_two_readings_is_seen(tiny_bilm, tiny_corpus, optimizer, settings):
    """Read frozen, trained without being read, frozen again, read while a gradient is left, and after another step."""
    tiny_bilm.requires_grad_(False)
    found = readers(tiny_bilm)
    assert_all_see(found, tiny_bilm, tiny_corpus)
    tiny_bilm.requires_grad_(True)
    steps = optimizer(tiny_bilm.parameters(), lr=0.1, **settings)
    elmo = ELMo(tiny_bilm, dropout=0.0, trainable=True)
    for _ in range(2):
        steps.zero_grad()
        elmo(tiny_corpus).mixes[0].square().sum().backward()
        steps.step()
    tiny_bilm.requires_grad_(False)
    found |= {"frozen later": readers(tiny_bilm)["ELMo"]}
    assert_all_see(found, tiny_bilm, tiny_corpus)
    steps.step()
    assert_all_see(found, tiny_bilm, tiny_corpus)


def test_other_memory_at_the_same_address_is_seen(tiny_bilm, tiny_corpus):
    elmo, weight = ELMo(tiny_bilm, dropout=0.0).eval(), tiny_bilm.get_parameter(WEIGHTS[1])
    memory = weight.detach().numpy().copy()
    weight.data = torch.from_numpy(memory)
    elmo(tiny_corpus)
    memory += 0.5
    weight.data = torch.from_numpy(memory)
    assert torch.equal(elmo(tiny_corpus).mixes[0], fresh(tiny_bilm, tiny_corpus))


def test_the_same_memory_in_another_order_is_seen(tiny_bilm, tiny_corpus):
    elmo, weight = ELMo(tiny_bilm, dropout=0.0).eval(), tiny_bilm.token_encoder.highways[0].transform.weight
    elmo(tiny_corpus)
    weight.data = weight.data.t()
    assert torch.equal(elmo(tiny_corpus).mixes[0], fresh(tiny_bilm, tiny_corpus))


@torch.inference_mode()
def test_a_change_of_weights_made_in_inference_mode_is_seen_though_torch_counts_none(tiny_config, tiny_corpus):
    bilm = BiLM(tiny_config)
    elmo, embedder = ELMo(bilm, dropout=0.0), Embedder(bilm)
    elmo(tiny_corpus), embedder.embed(tiny_corpus)
    bilm.forward_lstm.layers[0].bias.add_(0.5)
    expected = fresh(bilm, tiny_corpus)
    assert runs_on_engine(bilm)
    assert torch.equal(elmo(tiny_corpus).mixes[0], expected)
    for row, array in enumerate(embedder.embed(tiny_corpus, "average")):
        np.testing.assert_allclose(array, expected[row, : len(array)], rtol=0, atol=CLOSE)


@pytest.mark.parametrize("assign", [False, True])
def test_loaded_weights_are_seen(tiny_bilm, tiny_config, tiny_corpus, assign):
    elmo = ELMo(tiny_bilm, dropout=0.0).eval()
    elmo(tiny_corpus)
    torch.manual_seed(5)
    tiny_bilm.load_state_dict(BiLM(tiny_config).state_dict(), assign=assign)
    assert torch.equal(elmo(tiny_corpus).mixes[0], fresh(tiny_bilm, tiny_corpus))


def _hooked(kind):
    def change(bilm):
        getattr(bilm.forward_lstm.layers[0], kind)(lambda *_: None)

    return change


def _changed(bilm, **settings):
    for lstm in bilm.lstms:
        for layer in lstm.layers:
            layer.settings = layer.settings._replace(**settings)


def _one_highway_more(bilm):
    bilm.token_encoder.highways.append(copy.deepcopy(bilm.token_encoder.highways[0]))


def _patched(bilm):
    forward = bilm.forward_lstm.forward
    bilm.forward_lstm.forward = lambda *arguments: forward(*arguments)


def _without_bias(bilm):
    old = bilm.token_encoder.projection
    bilm.token_encoder.projection = nn.Linear(old.in_features, old.out_features, bias=False)


class Twice(nn.Linear):
    def forward(self, inputs):
        return 2 * super().forward(inputs)


def _subclassed(bilm):
    old = bilm.token_encoder.projection
    bilm.token_encoder.projection = Twice(old.in_features, old.out_features)


CHANGES = {
    "forward hook": _hooked("register_forward_hook"),
    "forward pre-hook": _hooked("register_forward_pre_hook"),
    "forward on the instance": _patched,
    "pruned": lambda bilm: prune.l1_unstructured(bilm.backward_lstm.layers[1], "recurrent_weight", 0.5),
    "pruned convolution": lambda bilm: prune.l1_unstructured(bilm.token_encoder.convolutions[1], "weight", 0.5),
    "weight norm": lambda bilm: parametrizations.weight_norm(bilm.token_encoder.projection),
    "without bias": _without_bias,
    "of another class": _subclassed,
    "one highway more": _one_highway_more,
    "other clips": lambda bilm: _changed(bilm, cell_clip=0.1),
    "no skip connections": lambda bilm: setattr(bilm.backward_lstm, "skip_connections", False),
    "wrapped": lambda bilm: setattr(bilm.token_encoder, "projection", nn.Sequential(bilm.token_encoder.projection)),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_bilm_that_is_not_as_it_was_built_is_computed_by_torch(tiny_bilm, tiny_corpus, change):
    elmo = ELMo(tiny_bilm, dropout=0.0, trainable=True).eval()
    before = elmo(tiny_corpus).mixes[0].detach()
    change(tiny_bilm)
    with_gradients = elmo(tiny_corpus).mixes[0].detach()
    assert not runs_on_engine(tiny_bilm)
    with torch.no_grad():
        torch.testing.assert_close(elmo(tiny_corpus).mixes[0], with_gradients, rtol=0, atol=CLOSE)
    for row, array in enumerate(Embedder(tiny_bilm).embed(tiny_corpus, "average")):
        np.testing.assert_allclose(array, with_gradients[row, : len(array)], rtol=0, atol=CLOSE)
    if change not in (CHANGES["forward hook"], CHANGES["forward pre-hook"], CHANGES["forward on the instance"],
                      CHANGES["weight norm"], CHANGES["wrapped"]):  # these compute the same  # fmt: skip
        assert not torch.allclose(with_gradients, before, atol=CLOSE)


def test_a_removed_hook_brings_the_engine_back(tiny_bilm):
    handle = tiny_bilm.forward_lstm.register_forward_hook(lambda *_: None)
    assert not runs_on_engine(tiny_bilm)
    handle.remove()
    assert runs_on_engine(tiny_bilm)


def test_a_hook_of_all_modules_is_called(tiny_bilm, tiny_corpus):
    seen = []
    handle = nn.modules.module.register_module_forward_hook(lambda module, *_: seen.append(type(module).__name__))
    try:
        ELMo(tiny_bilm).eval()(tiny_corpus)
    finally:
        handle.remove()
    assert {"BiLM", "TokenEncoder", "Convolution", "Highway", "ProjectedLSTM", "ProjectedLSTMLayer"} <= set(seen)


@pytest.mark.parametrize("register", ["register_forward_hook", "register_forward_pre_hook"])
def test_an_embedder_refuses_a_hook_that_it_would_not_call(tiny_bilm, tiny_corpus, register):
    getattr(tiny_bilm, register)(lambda *_: None)
    with pytest.raises(ConfigError, match="a forward hook of its own.*Register the hook on a part"):
        Embedder(tiny_bilm).embed(tiny_corpus)


def test_threads_that_ask_at_once_get_the_weights_as_they_are(tiny_bilm, tiny_corpus):
    elmo = ELMo(tiny_bilm, dropout=0.0).eval()
    for _ in range(5):
        with torch.no_grad():
            tiny_bilm.forward_lstm.layers[0].bias.add_(0.1)
        expected = fresh(tiny_bilm, tiny_corpus)
        with ThreadPoolExecutor(6) as threads:
            found = list(threads.map(elmo, [tiny_corpus] * 6))
        assert all(torch.equal(one.mixes[0], expected) for one in found)
