"""The network in every type of number, with gradients, without, in inference mode and under autocast: next to float64.

The bound of each cell follows from its type: a value is the end of a chain of some `_STEPS` products and sums whose
factors are at most about 1, each of which may round by epsilon / 2 of the values around it. Under autocast the factors
of products are rounded to bfloat16, as of bfloat16 weights.
"""

from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace

import pytest
import torch

from elmo.layer.elmo import ELMo
from elmo.layer.on_engine import padded_ids
from elmo.model.bilm import BiLM
from elmo.model.lm_head import LMHead
from elmo.text.token_map import TokenMap, WordMap

# Characters, convolution, highway, projection, two layers of an LSTM with a projection, over nine tokens: the roundings
# of the longest way from an id to a value, all of the same sign, with room for values between 1 and 4.
_STEPS = 64
TYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
MODES = ("gradients", "no_grad", "inference_mode", "autocast", "autocast without gradients")
WORDS = {word: number for number, word in enumerate(["<S>", "</S>", "<UNK>", "the", "cat", "sat", "on"], start=1)}
KINDS = {
    "characters": {},
    "relu, one layer": {"activation": "relu", "num_layers": 1},
    "forward": {"direction": "forward"},
    "backward": {"direction": "backward"},
    "words": {"characters": "none", "num_words": 8, "word_dim": 5},
    "words and characters": {"num_words": 8, "word_dim": 5},
    "no projection in the LSTM": {"cell_size": 8},
}


@contextmanager
def in_mode(mode, dtype):
    with ExitStack() as stack:
        if "autocast" in mode:
            stack.enter_context(torch.autocast("cpu", dtype=_lower(dtype)))
        if mode == "inference_mode":
            stack.enter_context(torch.inference_mode())
        if mode in ("no_grad", "autocast without gradients"):
            stack.enter_context(torch.no_grad())
        yield


def _lower(dtype):
    """What autocast rounds to: torch's for bfloat16 refuses float16."""
    return torch.float16 if dtype == torch.float16 else torch.bfloat16


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def bilm(request, tiny_config, tiny_bilm):
    config = replace(tiny_config, **request.param)
    words = WordMap(WORDS) if config.has_words else None
    characters = tiny_bilm.token_map.characters if config.has_characters else None
    torch.manual_seed(0)
    return BiLM(config, TokenMap(characters, words)).eval()


def bound(dtype, mode):
    return _STEPS * torch.finfo(_lower(dtype) if "autocast" in mode else dtype).eps


def difference(found, exact):
    assert torch.isfinite(found).all()
    return (found.double() - exact).abs().max().item()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", TYPES)
def test_all_layers_are_next_to_those_of_double_precision(bilm, tiny_corpus, dtype, mode):
    ids = padded_ids(bilm, tiny_corpus)
    with torch.no_grad():
        exact = bilm.double()(*ids).layers
    bilm.to(dtype)
    with in_mode(mode, dtype):
        found = bilm(*ids)
    assert difference(found.layers, exact) < bound(dtype, mode)
    assert not found.layers[:, ~found.mask].any()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("trainable", [False, True])
def test_mixes_are_next_to_those_of_double_precision(tiny_bilm, tiny_corpus, dtype, mode, trainable):
    with torch.no_grad():
        exact = ELMo(tiny_bilm, dropout=0.0).double()(tiny_corpus).mixes[0]
    elmo = ELMo(tiny_bilm, dropout=0.0, trainable=trainable).to(dtype)
    with in_mode(mode, dtype):
        found = elmo(tiny_corpus).mixes[0]
    assert difference(found, exact) < bound(dtype, mode)
    assert found.requires_grad == (mode in ("gradients", "autocast"))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("mode", ["gradients", "autocast"])
def test_gradients_are_next_to_those_of_double_precision(bilm, tiny_corpus, dtype, mode):
    def gradients(context):
        elmo = ELMo(bilm, dropout=0.0, trainable=True)
        elmo.zero_grad()
        with context:
            elmo(tiny_corpus).mixes[0].float().square().mean().backward()
        return {name: weight.grad.double() for name, weight in bilm.named_parameters()}

    exact = gradients(nullcontext()) if bilm.double() else {}
    bilm.to(dtype)
    for name, found in gradients(in_mode(mode, dtype)).items():
        assert difference(found, exact[name]) < bound(dtype, mode) * max(1e-3, exact[name].abs().max().item()), name


@pytest.mark.parametrize("layer_norm", ["boundaries", "words", "token"])
@pytest.mark.parametrize("dtype", TYPES)
def test_layer_norms_of_nothing_have_no_nan(tiny_bilm, dtype, layer_norm):
    for weight in tiny_bilm.parameters():
        weight.data.zero_()
    elmo = ELMo(tiny_bilm, dropout=0.0, layer_norm=layer_norm, trainable=True).to(dtype)
    mixed = elmo([["a", "b"], []]).mixes[0]
    mixed.sum().backward()
    assert not mixed.any()
    assert all(torch.isfinite(weight.grad).all() for weight in elmo.parameters())


MODULES = ["", "token_encoder", "forward_lstm", "forward_lstm.layers.0", "backward_lstm.layers.1"]
MODULES += ["token_encoder.convolutions.1", "token_encoder.highways.0", "token_encoder.highways.0.gate"]
MODULES += ["token_encoder.projection"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("name", MODULES)
def test_hooks_fire_and_replace_in_every_cell(tiny_bilm, tiny_corpus, dtype, mode, name):
    elmo = ELMo(tiny_bilm.to(dtype), dropout=0.0, trainable="autocast" in mode).eval()
    module, seen = tiny_bilm.get_submodule(name), []
    with in_mode(mode, dtype):
        before = elmo(tiny_corpus).mixes[0]
        handles = [
            module.register_forward_pre_hook(lambda *_: seen.append("pre")),
            module.register_forward_hook(lambda *_: seen.append("forward")),
        ]
        elmo(tiny_corpus)
        for handle in handles:
            handle.remove()
        assert seen == ["pre", "forward"]
        handle = module.register_forward_hook(lambda _, given, found: halved(found))
        replaced = elmo(tiny_corpus).mixes[0]
        handle.remove()
        assert not torch.allclose(replaced, before, atol=1e-4)
        again = elmo(tiny_corpus).mixes[0]
    torch.testing.assert_close(again, before, rtol=0, atol=0)


def halved(found):
    """The same structure, its first tensor halved."""
    if isinstance(found, torch.Tensor):
        return found / 2
    return found._replace(layers=found.layers / 2) if hasattr(found, "layers") else (halved(found[0]), *found[1:])


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.filterwarnings("ignore:Full backward hook is firing")  # torch's, for modules that read ids
def test_backward_hooks_fire_in_training(tiny_bilm, tiny_corpus, name):
    seen = []
    module = tiny_bilm.get_submodule(name)
    module.register_full_backward_hook(lambda *_: seen.append(name))
    ELMo(tiny_bilm, trainable=True)(tiny_corpus).mixes[0].sum().backward()
    assert seen == [name]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("clusters", [(), ((4, 3), (3, 2))])
def test_losses_of_the_head_are_next_to_those_of_double_precision(dtype, mode, clusters):
    torch.manual_seed(0)
    head = LMHead([f"w{number}" for number in range(12)], 8, clusters).double()
    outputs, targets = torch.randn(5, 8).clamp(-1, 1).double(), torch.tensor([0, 3, 6, 9, 11])
    with torch.no_grad():
        exact = head.nats(outputs, targets)
    head.to(dtype)
    with in_mode(mode, dtype):
        found = head.nats(outputs.to(dtype), targets)
    assert difference(found, exact) < bound(dtype, mode)


def test_functional_call_computes_with_the_weights_it_is_given(tiny_bilm, tiny_corpus):
    elmo = ELMo(tiny_bilm, dropout=0.0).eval()
    before = elmo(tiny_corpus).mixes[0]
    other = {name: weight.detach() * 1.5 for name, weight in elmo.named_parameters() if name.startswith("bilm.")}
    found = torch.func.functional_call(elmo, other, (tiny_corpus,)).mixes[0]
    torch.testing.assert_close(elmo(tiny_corpus).mixes[0], before, rtol=0, atol=0)
    with torch.no_grad():
        for name, weight in other.items():
            elmo.get_parameter(name).copy_(weight)
    torch.testing.assert_close(found, elmo(tiny_corpus).mixes[0], rtol=0, atol=1e-5)


def test_gradients_of_torch_func_are_those_of_autograd(tiny_bilm, tiny_corpus):
    ids, weights = padded_ids(tiny_bilm, tiny_corpus), dict(tiny_bilm.named_parameters())

    def loss(weights):
        return torch.func.functional_call(tiny_bilm, weights, ids).layers.square().mean()

    found = torch.func.grad(loss)(weights)
    for name, expected in zip(weights, torch.autograd.grad(loss(weights), list(weights.values())), strict=True):
        torch.testing.assert_close(found[name], expected, rtol=1e-3, atol=1e-6)


def test_meta_tensors_give_the_shapes(tiny_config):
    with torch.device("meta"):
        bilm = BiLM(tiny_config)
        elmo = ELMo(bilm)
    ids = torch.zeros(2, 3, 50, dtype=torch.int64, device="meta")
    for grad in (True, False):
        with torch.set_grad_enabled(grad):
            assert bilm(ids).layers.shape == (3, 2, 5, 16)
            assert elmo(ids).mixes[0].shape == (2, 3, 16)


@pytest.mark.parametrize("clusters", [(), ((4, 3), (3, 2))])
def test_another_default_device_changes_no_gradient(tiny_bilm, tiny_corpus, clusters):
    head = LMHead([f"w{number}" for number in range(12)], 8, clusters)
    elmo = ELMo(tiny_bilm, dropout=0.0, trainable=True)
    targets, outputs = torch.arange(12), torch.ones(12, 8)

    def gradients():
        elmo.zero_grad()
        head.zero_grad()
        (elmo(tiny_corpus).mixes[0].square().mean() + head.nats(outputs, targets).mean()).backward()
        return [weight.grad.clone() for weight in (*tiny_bilm.parameters(), *head.parameters())]

    expected = gradients()
    with torch.device("meta"):
        found = gradients()
    assert all(map(torch.equal, found, expected))
