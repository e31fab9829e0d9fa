"""Optimizers and learning rates of task models, by the names of `FitSettings`."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from elmo.tasks.settings import FitSettings


def make_optimizer(settings: FitSettings, parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    """The rule of a step for the parameters that are trained."""
    trained = [parameter for parameter in parameters if parameter.requires_grad]
    common: dict[str, Any] = {"lr": settings.learning_rate, "weight_decay": settings.weight_decay}
    if settings.optimizer == "adadelta":
        return torch.optim.Adadelta(trained, rho=0.95, **common)
    rules: dict[str, Any] = {
        "adam": torch.optim.Adam,
        "adamw": torch.optim.AdamW,
        "adagrad": torch.optim.Adagrad,
        "sgd": torch.optim.SGD,
    }
    return rules[settings.optimizer](trained, fused=True, **common)


def rate_at(settings: FitSettings, step: int, num_steps: int, num_halvings: int) -> float:
    """The learning rate of step 0, 1, ... of `num_steps`, after `num_halvings` epochs without a better dev score."""
    if settings.decay == "linear":
        return settings.learning_rate * (num_steps - step) / num_steps
    if settings.decay == "halve":
        return settings.learning_rate * 0.5**num_halvings
    return settings.learning_rate


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """What an optimizer remembers, as named tensors: "<number of the parameter>.<name>"."""
    state = optimizer.state_dict()["state"]
    return {f"{number}.{name}": tensor for number, own in state.items() for name, tensor in own.items()}


def restore_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    """The reverse of `optimizer_tensors`, for an optimizer of the same settings and parameters."""
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        number, name = key.split(".", 1)
        state.setdefault(int(number), {})[name] = tensor
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
