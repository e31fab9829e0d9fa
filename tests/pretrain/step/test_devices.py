"""Tensors of the host and of the device must not be mixed, and a step must not wait for the device before its end.

No GPU is needed: the weights and all that is sent to the device are fake tensors, which have shapes and a device but no
values. Mixing them with tensors of the CPU raises, and so does whatever would have to read a value: `.item()`,
`unique`, `nonzero`. Their device is called "meta", because a torch without CUDA can't index tensors of a fake "cuda".
"""

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensor, FakeTensorMode

from elmo.ops import char_cnn
from elmo.pretrain.ranks import gradients as gradients_module
from elmo.pretrain.step import direction
from elmo.pretrain.step import trainer as trainer_module
from elmo.pretrain.step.setup import make_optimizer
from elmo.pretrain.step.trainer import Trainer

DEVICE = torch.device("meta")
VARIANTS = {
    "paper": {},
    "full softmax": {"softmax": "full"},
    "tied words": {"characters": "none", "tie_softmax": True},
    "words beside characters": {"word_dim": 5},
    "bfloat16": {"product_dtype": "bfloat16"},
    "sgd": {"optimizer": "sgd"},
}


class Elsewhere:
    """Moves things to a device that isn't there."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.mode = FakeTensorMode()
        for module in (char_cnn, gradients_module, direction, trainer_module):
            monkeypatch.setattr(module, "on_device", lambda host, _: self(host))

    def __call__(self, tensor: Tensor) -> Tensor:
        return self.mode.from_tensor(tensor.detach(), static_shapes=True).to(DEVICE)

    def move(self, module: nn.Module) -> None:
        """Its parameters."""
        for owner in module.modules():
            for name, parameter in list(owner.named_parameters(recurse=False)):
                setattr(owner, name, nn.Parameter(self(parameter)))


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Elsewhere:
    return Elsewhere(monkeypatch)


def _on_device(trainer: Trainer, elsewhere: Elsewhere) -> Trainer:
    elsewhere.move(trainer.bilm)
    elsewhere.move(trainer.head)
    if trainer.config.tie_softmax:
        trainer.head.weight = nn.Parameter(trainer.bilm.token_encoder.word_embedding.detach()[1:])
    names = list(trainer.named_parameters)
    found = {f"bilm.{name}": own for name, own in trainer.bilm.named_parameters()}
    found |= {f"head.{name}": own for name, own in trainer.head.named_parameters()}
    trainer.named_parameters = {name: found[name] for name in names}
    trainer.optimizer = make_optimizer(trainer.config, trainer.named_parameters.values())
    trainer._row_optimizer = gradients_module.RowOptimizer(trainer.optimizer)
    trainer.states = {name: (elsewhere(hidden), elsewhere(cell)) for name, (hidden, cell) in trainer.states.items()}
    trainer.device, trainer._pool = DEVICE, None
    return trainer


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_step_mixes_no_devices_and_reads_the_device_once_at_its_end(data, recipe, elsewhere, monkeypatch, variant):
    # Dropout draws from a generator of the device, which a device that isn't there doesn't have.
    config = replace(recipe, dropout=0.0, **VARIANTS[variant])
    trainer = _on_device(Trainer(config, data), elsewhere)
    # One read is left out here, where nothing has values: how many columns the longest word of the window has.
    reads = []

    def read(scalars: list[Tensor]) -> list[float]:
        reads.append([(type(scalar), scalar.device, scalar.shape) for scalar in scalars])
        return [1.0] * len(scalars)

    monkeypatch.setattr(trainer_module, "_read", read)
    for _ in range(2):
        trainer.step()
    assert reads == [[(FakeTensor, DEVICE, torch.Size([]))] * 3] * 2
    assert all(parameter.device == DEVICE for parameter in trainer.named_parameters.values())
    assert all(part.device == DEVICE for state in trainer.states.values() for part in state)


def test_a_mixed_device_and_an_early_read_would_be_noticed(elsewhere):
    there = elsewhere(torch.ones(3))
    with pytest.raises(Exception, match="same device|convert all Tensors to FakeTensors"):
        there + torch.ones(3)
    with pytest.raises((DataDependentOutputException, RuntimeError)):
        there.sum().item()
