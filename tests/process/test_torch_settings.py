"""Whatever a program has set in torch, trainings and predictions compute as usual."""

from contextlib import nullcontext
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from elmo.errors import ConfigError  # noqa: E402 - not without torch
from elmo.pretrain.run.training import train  # noqa: E402
from elmo.process.torch_settings import usual_torch  # noqa: E402
from elmo.tasks.train.train import train as train_task  # noqa: E402

TRAININGS = (train, train_task)
SETTINGS = {
    "nothing": nullcontext,
    "no gradients": torch.no_grad,
    "inference mode": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    "another device": lambda: torch.device("meta"),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_inside_everything_is_as_usual_and_outside_as_it_was(setting):
    @usual_torch()
    def product():
        one = torch.ones(2, 2, requires_grad=True)
        found = one @ one
        found.sum().backward()
        return found.dtype, found.device.type, one.grad is not None, one.is_inference()

    with SETTINGS[setting]():
        before = torch.ones(2, 2) @ torch.ones(2, 2)
        assert product() == (torch.float32, "cpu", True, False)
        after = torch.ones(2, 2) @ torch.ones(2, 2)
    assert (before.dtype, before.device, before.is_inference()) == (after.dtype, after.device, after.is_inference())


def test_a_model_is_trained_the_same(data, recipe, tmp_path):
    found = {}
    for name, setting in SETTINGS.items():
        with setting():
            found[name] = train(data, tmp_path / name, replace(recipe, max_steps=3)).model / "model.safetensors"
    assert len({path.read_bytes() for path in found.values()}) == 1, found


@pytest.mark.parametrize("function", TRAININGS, ids=lambda function: f"{function.__module__}.{function.__name__}")
def test_a_training_refuses_another_default_type_before_anything(function):
    try:
        torch.set_default_dtype(torch.float64)
        with pytest.raises(ConfigError, match=r"default dtype is torch.float64 .* torch.set_default_dtype"):
            function()
    finally:
        torch.set_default_dtype(torch.float32)
