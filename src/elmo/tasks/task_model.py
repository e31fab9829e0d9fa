"""TaskModel: the network of a task, which `fit` trains and `saved_model` saves.

Generic in two types: E, an example of its task; P, a prediction.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import Generic, Self, TypeVar

from jaxtyping import Float
from torch import Tensor, nn

from elmo.tasks.tokens.representation import TokenRepresentation

E = TypeVar("E")
P = TypeVar("P")


class TaskModel(nn.Module, ABC, Generic[E, P]):
    """A network that reads its tokens through `tokens`."""

    tokens: TokenRepresentation

    @abstractmethod
    def loss(self, examples: Sequence[E]) -> Float[Tensor, ""]:
        """The mean loss of a batch of labelled examples, without the penalty of the mixes (`fit` adds it)."""

    @abstractmethod
    def predict(self, examples: Sequence[E]) -> list[P]:
        """A prediction for each example of a batch."""

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

    def is_decayed(self, name: str, parameter: nn.Parameter) -> bool:
        """Whether the setting `weight_decay` is for this parameter; `name` as in `named_parameters`."""
        return True
