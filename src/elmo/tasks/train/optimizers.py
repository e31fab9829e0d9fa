"""Learner: what changes a task model's weights, by the names of `FitSettings`, and the average of the weights."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from elmo.tasks.settings import FitSettings
from elmo.tasks.task import E, P
from elmo.tasks.task_model import TaskModel


class WeightAverage:
    """An exponential moving average of trained weights, which is scored and kept in their place.

    average <- d * average + (1 - d) * weights after each step. With a warm-up, d = min(decay, (1 + step) / (10 +
    step)), so that the initial weights are soon forgotten; without one, d = decay, as in DocumentQA (0.999). A decay of
    0 gives the weights themselves, and costs nothing. Source: Polyak and Juditsky 1992; Clark and Gardner 2017.
    """

    def __init__(self, parameters: Sequence[nn.Parameter], decay: float, *, warmup: bool = True) -> None:
        """`decay`: how much of the average stays in a step, below 1."""
        self._parameters = list(parameters) if decay else []
        self._decay = decay
        self._warmup = warmup
        self.values = [parameter.detach().clone() for parameter in self._parameters]
        """The average of each parameter; empty with a decay of 0."""

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Takes in the weights after step 0, 1, ..."""
        if self.values:
            decay = min(self._decay, (1 + step) / (10 + step)) if self._warmup else self._decay
            for average, parameter in zip(self.values, self._parameters, strict=True):
                average.lerp_(parameter, 1 - decay)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """The parameters have the average's values while the block runs."""
        weights = [parameter.detach().clone() for parameter in self._parameters]
        self._set(self.values)
        try:
            yield
        finally:
            self._set(weights)

    @torch.no_grad()
    def _set(self, values: Sequence[Float[Tensor, "..."]]) -> None:
        for parameter, value in zip(self._parameters, values, strict=True):
            parameter.copy_(value)


class Learner:
    """The trained parameters of a model, their optimizer, and their average."""

    def __init__(self, settings: FitSettings, model: TaskModel[E, P]) -> None:
        self.settings = settings
        self.rate = settings.learning_rate
        """Of the last step."""
        self.parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self.average = WeightAverage(self.parameters, settings.average_decay, warmup=settings.average_warmup)
        self.optimizer = make_optimizer(settings, model)
        self.tokens = model.tokens.settings
        self.bilm_layers = model.tokens.trained_layers()

    def waits(self, epochs: int) -> bool:
        """Whether a biLM is to be trained, but no layer of it has been in so many epochs."""
        return bool(self.bilm_layers) and epochs <= self.tokens.frozen_epochs(0)

    def begin(self, step: int, epochs: float, num_halvings: int) -> None:
        """Sets the rates of a step, see `rate_at`, and which layers are trained; forgets the gradients before it.

        `epochs`: done before it, the part of the one under way included.
        """
        self.rate = rate_at(self.settings, step, epochs / self.settings.epochs, num_halvings)
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate * group["share"]
        for depth, layer in enumerate(self.bilm_layers):
            for parameter in layer:  # a weight without a gradient stays as it is, whatever the optimizer remembers
                parameter.requires_grad_(epochs >= self.tokens.frozen_epochs(depth))
        self.optimizer.zero_grad(set_to_none=True)

    def clip(self) -> float:
        """Clips the gradients; their global norm before `clip_norm`."""
        if self.settings.clip_value:
            nn.utils.clip_grad_value_(self.parameters, self.settings.clip_value)
        return nn.utils.clip_grad_norm_(self.parameters, self.settings.clip_norm or math.inf).item()

    def step(self, number: int) -> None:
        """Changes the weights by their gradients; `number`: of the step, from 0."""
        self.optimizer.step()
        self.average.update(number)


def make_optimizer(settings: FitSettings, model: TaskModel[E, P]) -> torch.optim.Optimizer:
    """The optimizer of the model's trained parameters.

    They are in groups, the task's own first, then those of each layer of a biLM that is trained, from the top; in two
    if weight decay is only for some of them. "share": of the learning rate.
    """
    tokens = model.tokens
    depths = {id(parameter): depth for depth, layer in enumerate(tokens.trained_layers()) for parameter in layer}
    parts: dict[tuple[int, bool], list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            key = depths.get(id(parameter), -1), not model.is_decayed(name, parameter)
            parts.setdefault(key, []).append(parameter)
    groups = [
        {
            "params": parts[depth, is_exempt],
            "weight_decay": 0.0 if is_exempt else settings.weight_decay,
            "share": 1.0 if depth < 0 else tokens.settings.rate_share(depth),
        }
        for depth, is_exempt in sorted(parts)
    ]
    if settings.optimizer == "adadelta":
        return torch.optim.Adadelta(groups, lr=settings.learning_rate, rho=0.95, eps=settings.adadelta_epsilon)
    rules: dict[str, Any] = {
        "adam": torch.optim.Adam,
        "adamw": torch.optim.AdamW,
        "adagrad": torch.optim.Adagrad,
        "sgd": torch.optim.SGD,
    }
    # torch 2.6 has no fused Adagrad for a GPU.
    is_fused = settings.optimizer != "adagrad" or tokens.device.type == "cpu" or None
    return rules[settings.optimizer](groups, lr=settings.learning_rate, fused=is_fused)


def rate_at(settings: FitSettings, step: int, done: float, num_halvings: int = 0) -> float:
    """The learning rate of a step, from 0.

    `done`: the fraction of all epochs before it; `num_halvings`: epochs without a better dev score so far.
    """
    if settings.decay == "linear":
        return settings.learning_rate * (1 - done)
    if settings.decay == "slanted":  # Howard and Ruder 2018, with their constants
        height = done / 0.1 if done < 0.1 else (1 - done) / 0.9
        return settings.learning_rate * (1 + 31 * height) / 32
    if settings.decay == "halve":
        return settings.learning_rate * 0.5**num_halvings
    if settings.decay == "staircase":
        return settings.learning_rate * settings.decay_rate ** (step // settings.decay_steps)
    return settings.learning_rate
