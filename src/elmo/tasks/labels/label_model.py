"""LabelModel: a TaskModel whose examples have one label each."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Protocol, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from elmo.tasks.labels.classification import Prediction
from elmo.tasks.layers.averages import mean_of
from elmo.tasks.task_model import TaskModel


class Labelled(Protocol):
    """An example with a label."""

    @property
    def label(self) -> str: ...


L = TypeVar("L", bound=Labelled)


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

    def predict(self, examples: Sequence[L]) -> list[Prediction]:
        """The most probable label of each example, with the probabilities of all."""
        return self.predict_with([], examples)

    @property
    def outcomes(self) -> tuple[str, ...]:
        """Its labels."""
        return tuple(self.labels)

    def predict_with(self, others: Sequence[TaskModel[L, Prediction]], examples: Sequence[L]) -> list[Prediction]:
        """By the mean of the models' probabilities."""
        rows = mean_of([model(examples).softmax(dim=1) for model in self.together_with(others)]).tolist()
        named = [sorted(zip(self.labels, row, strict=True), key=lambda one: -one[1]) for row in rows]
        return [Prediction(label=row[0][0], probabilities=dict(row)) for row in named]
