"""Rule: predictions without a trained network, the lowest line that a table of trained systems should be above."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

E = TypeVar("E")
P = TypeVar("P")


@dataclass(frozen=True)
class Rule(Generic[E, P]):
    """One rule of a task, made from its training examples (`Task.rules`)."""

    name: str
    """Without blanks, for records."""
    label: str
    """For people: what the rule does."""
    predict: Callable[[Sequence[E]], list[P]]
    """A prediction for each example."""
