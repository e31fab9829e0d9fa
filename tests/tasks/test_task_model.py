"""The models of all built-in tasks, in every type of number and mode of torch, in training and with nothing to read."""

import pytest
import torch
from tests.tasks.small_models import MODELS, STATIC, rounded, small_model, small_tokens

from elmo.errors import ConfigError
from elmo.tasks.registry import find
from elmo.tasks.settings import to_table, with_table

TYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
MODES = ("gradients", "no_grad", "inference_mode", "autocast")


@pytest.fixture(params=MODELS)
def task(request, tiny_bilm):
    placement = "both" if "output" in find(request.param).places else "input"
    return small_model(request.param, small_tokens(tiny_bilm, STATIC, placement=placement)), MODELS[request.param][2]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", TYPES)
def test_the_loss_is_next_to_that_of_double_precision(task, dtype, mode):
    model, examples = task
    with torch.no_grad():
        exact = model.double().loss(examples)
    model.to(dtype)
    lower = torch.float16 if dtype == torch.float16 else torch.bfloat16
    with (
        torch.set_grad_enabled(mode in ("gradients", "autocast")),
        torch.inference_mode(mode == "inference_mode"),
        torch.autocast("cpu", dtype=lower, enabled=mode == "autocast"),
    ):
        found = model.loss(examples)
    rounded = torch.finfo(lower if mode == "autocast" else dtype).eps
    # As in tests/layer: some 64 roundings between the words and the loss.
    torch.testing.assert_close(found.double(), exact, rtol=64 * rounded, atol=64 * rounded)
    if mode in ("gradients", "autocast"):
        found.backward()
        assert all(torch.isfinite(weight.grad).all() for weight in model.parameters() if weight.grad is not None)


def test_every_learned_weight_has_a_gradient(task):
    model, examples = task
    (model.train().loss(examples) + model.tokens.penalty()).backward()
    for name, weight in model.named_parameters():
        assert (weight.grad is not None) == weight.requires_grad, name


@torch.no_grad()
def test_each_example_has_the_same_answer_in_any_batch(task):
    model, examples = task
    alone = [model.predict([example])[0] for example in examples]
    assert rounded(model.predict(examples)) == rounded(alone)


@torch.no_grad()
@pytest.mark.parametrize("name", [name for name in MODELS if name not in ("pos", "srl")])  # of tokens, of predicates
def test_the_loss_is_the_mean_of_the_examples(name):
    model, examples = small_model(name, small_tokens(static=STATIC)), MODELS[name][2]
    alone = torch.stack([model.loss([example]) for example in examples])
    torch.testing.assert_close(model.loss(examples), alone.mean())


def test_dropout_is_off_outside_of_training(task):
    model, examples = task
    assert torch.equal(model.loss(examples), model.loss(examples))
    assert not torch.equal(model.train().loss(examples), model.eval().loss(examples))


@pytest.mark.parametrize("changes", [{"encoder": "none"}, {"placement": "output"}], ids=str)
@pytest.mark.parametrize("name", [name for name in MODELS if name != "coref"])  # which has an error of its own
def test_a_model_that_reads_nothing_is_refused(name, changes):
    task = find(name)
    filters = {"character_filters": 0} if "character_filters" in to_table(task.settings()) else {}
    settings = with_table(task.settings(), changes | filters, "here")
    with pytest.raises(ConfigError, match="the model would read nothing"):
        task.check_settings(settings)
