"""Optimizer and learning rate of a run."""

from collections.abc import Iterable

import torch
from torch import nn

from elmo.pretrain.settings.config import PretrainConfig

# What each optimizer keeps of a parameter that had a gradient.
OPTIMIZER_STATE = {"adagrad": {"step", "sum"}, "adamw": {"step", "exp_avg", "exp_avg_sq"}, "sgd": set()}


def learning_rate(config: PretrainConfig, step: int, last_step: int, windows: float | None = None) -> float:
    """The rate of step 1, 2, ...: it rises over `warmup_steps`, then stays or falls to 0 after `last_step`.

    `windows`: how many windows of the present size the whole run reads; `last_step`, unless a run was resumed with
    other `unroll_steps`. The rate then goes on falling from where it was.
    """
    rate = config.learning_rate
    if step <= config.warmup_steps:
        return rate * step / config.warmup_steps
    if config.decay == "linear":
        windows = last_step if windows is None else windows
        return rate * min(1.0, max(0.0, (last_step + 1 - step) / max(1, windows + 1 - config.warmup_steps)))
    return rate


def make_optimizer(config: PretrainConfig, parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    """adagrad as in bilm-tf (TensorFlow's: accumulator starts at 1, no epsilon), sgd without momentum, or adamw."""
    if config.optimizer == "adagrad":
        return torch.optim.Adagrad(parameters, lr=config.learning_rate, initial_accumulator_value=1.0, eps=0.0)
    if config.optimizer == "sgd":
        return torch.optim.SGD(parameters, lr=config.learning_rate)
    return torch.optim.AdamW(
        parameters, lr=config.learning_rate, betas=(0.9, 0.98), eps=1e-8, weight_decay=config.weight_decay, fused=True
    )
