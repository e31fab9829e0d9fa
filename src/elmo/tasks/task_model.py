"""TaskModel: the network of a task, which `fit` trains and `saved_model` saves.

Generic in two types: E, an example of its task; P, a prediction.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any, Generic, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from elmo.tasks.tokens.representation import TokenRepresentation


def mean_of(found: Sequence[Float[Tensor, "*shape"]]) -> Float[Tensor, "*shape"]:
    """The mean of scores or probabilities."""
    return found[0] if len(found) == 1 else torch.stack(list(found)).mean(dim=0)


def log_mean_of(found: Sequence[Float[Tensor, "*shape"]]) -> Float[Tensor, "*shape"]:
    """The logarithm of the mean of probabilities, which are given and computed as logarithms."""
    if len(found) == 1:
        return found[0]
    return torch.stack(list(found)).logsumexp(dim=0) - math.log(len(found))


E = TypeVar("E")
P = TypeVar("P")


class TaskModel(nn.Module, ABC, Generic[E, P]):
    """A network that reads its tokens through `tokens`.

    `forward` computes a batch's outputs, such as logits; `loss_of` compares them with the labels, and `decide` makes
    predictions of them.
    """

    tokens: TokenRepresentation

    @abstractmethod
    def forward(self, examples: Sequence[E]) -> Any:
        """The outputs for a batch of examples, of whatever type `loss_of` and `decide` of this model read."""

    @abstractmethod
    def loss_of(self, outputs: Any, examples: Sequence[E]) -> Float[Tensor, ""]:
        """The mean loss of a batch of labelled examples, without the penalty of the mixes (`fit` adds it)."""

    @abstractmethod
    def decide(self, outputs: Sequence[Any], examples: Sequence[E]) -> list[P]:
        """A prediction for each example of a batch, from this model's outputs alone.

        If `outcomes` isn't None, `outputs` may be those of several models: their distributions are averaged.
        """

    def loss(self, examples: Sequence[E]) -> Float[Tensor, ""]:
        """`loss_of` of the outputs."""
        return self.loss_of(self(examples), examples)

    def predict(self, examples: Sequence[E]) -> list[P]:
        """A prediction for each example of a batch."""
        return self.decide([self(examples)], examples)

    @property
    def outcomes(self) -> Hashable:
        """What it decides between, such as its labels: models with the same outcomes can be averaged.

        None: models of this type have no average.
        """
        return None

    def held_out_loss_of(self, outputs: Any, examples: Sequence[E]) -> Float[Tensor, ""] | None:
        """`loss_of` for dev examples: it decides between epochs with equal scores.

        A model whose dev examples may lack what its loss needs overrides this; None: it has no such loss.
        """
        return self.loss_of(outputs, examples)

    def num_averaged(self, examples: Sequence[E]) -> int:
        """How many losses `held_out_loss_of` is the mean of, so that means of batches can be averaged: the examples."""
        return len(examples)

    def is_decayed(self, name: str, parameter: nn.Parameter) -> bool:
        """Whether the setting `weight_decay` is for this parameter; `name` as in `named_parameters`."""
        return True
