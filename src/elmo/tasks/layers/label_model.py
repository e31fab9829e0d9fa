"""LabelModel: the network of a task whose examples have one label each."""

from abc import abstractmethod
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from elmo.tasks.labels import L, Prediction
from elmo.tasks.task_model import TaskModel, mean_of


class LabelModel(TaskModel[L, Prediction]):
    """A network that gives each example of a batch one logit for each label."""

    def __init__(self, labels: Sequence[str]) -> None:
        super().__init__()
        self.labels: list[str] = list(labels)
        self._numbers = {label: number for number, label in enumerate(self.labels)}

    @abstractmethod
    def forward(self, examples: Sequence[L]) -> Float[Tensor, "batch labels"]:
        """Logits."""

    def loss_of(self, outputs: Float[Tensor, "batch labels"], examples: Sequence[L]) -> Float[Tensor, ""]:
        """Cross-entropy of the labels, averaged over the examples."""
        gold = torch.tensor([self._numbers[example.label] for example in examples], device=outputs.device)
        return functional.cross_entropy(outputs, gold)

    def held_out_loss_of(
        self, outputs: Float[Tensor, "batch labels"], examples: Sequence[L]
    ) -> Float[Tensor, ""] | None:
        """None if an example has a label that the training data doesn't have."""
        return self.loss_of(outputs, examples) if all(one.label in self._numbers for one in examples) else None

    @property
    def outcomes(self) -> tuple[str, ...]:
        """Its labels."""
        return tuple(self.labels)

    def decide(self, outputs: Sequence[Float[Tensor, "batch labels"]], examples: Sequence[L]) -> list[Prediction]:
        """By the mean of the probabilities."""
        rows = mean_of([logits.softmax(dim=1) for logits in outputs]).tolist()
        named = [sorted(zip(self.labels, row, strict=True), key=lambda one: -one[1]) for row in rows]
        return [Prediction(label=row[0][0], probabilities=dict(row)) for row in named]
