"""TaskModel: the network of a task, which `fit` trains and `saved_model` saves.

Generic in two types: E, an example of its task; P, a prediction.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import Generic, Self, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from elmo.tasks.labels import L, Prediction
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
    """A network that reads its tokens through `tokens`."""

    tokens: TokenRepresentation

    @abstractmethod
    def loss(self, examples: Sequence[E]) -> Float[Tensor, ""]:
        """The mean loss of a batch of labelled examples, without the penalty of the mixes (`fit` adds it)."""

    def predict(self, examples: Sequence[E]) -> list[P]:
        """A prediction for each example of a batch; a model without `predict_with` overrides this."""
        return self.predict_with([], examples)

    @property
    def outcomes(self) -> Hashable:
        """What it decides between, such as its labels: models with the same outcomes can be averaged.

        None: models of this type have no average; otherwise `predict_with` must be there.
        """
        return None

    def predict_with(self, others: "Sequence[TaskModel[E, P]]", examples: Sequence[E]) -> list[P]:
        """The predictions of this model and others together, their distributions averaged; with none, its own.

        Called if `outcomes` is not None, with models that have the same.
        """
        raise NotImplementedError

    def together_with(self, others: "Sequence[TaskModel[E, P]]") -> list[Self]:
        """This model and the others. Raises TypeError for one of another type: their distributions have no mean."""
        alike = [other for other in others if isinstance(other, type(self))]
        if len(alike) < len(others):
            types = ", ".join(sorted({type(other).__name__ for other in others}))
            raise TypeError(f"{type(self).__name__} can't be averaged with {types}. Give models of one type.")
        return [self, *alike]

    def held_out_loss(self, examples: Sequence[E]) -> Float[Tensor, ""] | None:
        """The same for dev examples: it decides between epochs with equal scores.

        A model whose dev examples may lack what its loss needs overrides this; None: it has no such loss.
        """
        return self.loss(examples)

    def num_averaged(self, examples: Sequence[E]) -> int:
        """How many losses `held_out_loss` is the mean of, so that means of batches can be averaged: the examples."""
        return len(examples)

    def is_decayed(self, name: str, parameter: nn.Parameter) -> bool:
        """Whether the setting `weight_decay` is for this parameter; `name` as in `named_parameters`."""
        return True


class LabelModel(TaskModel[L, Prediction]):
    """A network that gives each example of a batch one logit for each label."""

    def __init__(self, labels: Sequence[str]) -> None:
        super().__init__()
        self.labels: list[str] = list(labels)
        self._numbers = {label: number for number, label in enumerate(self.labels)}

    @abstractmethod
    def forward(self, examples: Sequence[L]) -> Float[Tensor, "batch labels"]:
        """Logits."""

    def loss(self, examples: Sequence[L]) -> Float[Tensor, ""]:
        """Cross-entropy of the labels, averaged over the examples."""
        logits = self(examples)
        gold = torch.tensor([self._numbers[example.label] for example in examples], device=logits.device)
        return functional.cross_entropy(logits, gold)

    def held_out_loss(self, examples: Sequence[L]) -> Float[Tensor, ""] | None:
        """None if an example has a label that the training data doesn't have."""
        return self.loss(examples) if all(example.label in self._numbers for example in examples) else None

    @property
    def outcomes(self) -> tuple[str, ...]:
        """Its labels."""
        return tuple(self.labels)

    def predict_with(self, others: Sequence[TaskModel[L, Prediction]], examples: Sequence[L]) -> list[Prediction]:
        """By the mean of the models' probabilities."""
        rows = mean_of([model(examples).softmax(dim=1) for model in self.together_with(others)]).tolist()
        named = [sorted(zip(self.labels, row, strict=True), key=lambda one: -one[1]) for row in rows]
        return [Prediction(label=row[0][0], probabilities=dict(row)) for row in named]
