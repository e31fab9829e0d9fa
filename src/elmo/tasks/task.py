"""Task: what a task is, so that `elmo task`, `fit` and the tables know them all by name. Nothing here loads torch.

A task `t` is the folder `tasks/t/`: `settings.py` has its dataclass `Settings` (without torch, for --help), `task.py`
its one `TASK`. Its steps:

    read          a file -> examples, each with what was told of it
    vocabulary    the training examples -> what the model must remember of them (labels, characters), plain for JSON
    build         settings, vocabulary, token representation -> TaskModel
    score         examples, predictions -> the task's figures
    write         examples, predictions -> lines of the task's official format
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elmo.errors import ConfigError

if TYPE_CHECKING:
    from torch import Tensor, nn

    from elmo.tasks.tokens.representation import TokenRepresentation

TASKS = {
    "ner": "named entities, in CoNLL columns",
    "sst": "the sentiment of sentences, in labelled trees or TSV",
}

Scores = dict[str, Any]
"""Figures of a task, plain for JSON; those that people compare are percentages."""


class Task(ABC):
    """One task. It keeps nothing: all it needs is passed to it."""

    name: str
    """As typed."""
    metric: str
    """The key in `score`'s result by which models are compared; more is better."""

    @abstractmethod
    def read(self, path: Path | str, settings: Any) -> list[Any]:
        """The labelled examples of a file; what is wrong in it is a TextError with file and line."""

    @abstractmethod
    def from_text(self, sentences: Iterable[list[str]]) -> list[Any]:
        """Examples without labels, one for each tokenized sentence."""

    @abstractmethod
    def sentences(self, example: Any) -> list[list[str]]:
        """The sentences of an example, as they are asked of the token representation."""

    def training(self, examples: list[Any], settings: Any) -> list[Any]:
        """What is trained on, made of the training file's examples (SST: every labelled subtree)."""
        return examples

    @abstractmethod
    def vocabulary(self, examples: list[Any], settings: Any) -> dict[str, Any]:
        """What a model remembers of the training examples: labels first. Plain values for JSON."""

    @abstractmethod
    def check(self, examples: list[Any], vocabulary: dict[str, Any], settings: Any) -> None:
        """TextError, with file and line, for a label that `vocabulary` doesn't have."""

    @abstractmethod
    def build(self, settings: Any, vocabulary: dict[str, Any], tokens: "TokenRepresentation") -> "nn.Module":
        """A new model with random weights: a `TaskModel`."""

    @abstractmethod
    def score(self, examples: Sequence[Any], predictions: Sequence[Any]) -> Scores:
        """The figures of predictions for labelled examples; `metric` is among the keys."""

    @abstractmethod
    def write(self, examples: Sequence[Any], predictions: Sequence[Any]) -> Iterator[str]:
        """The lines of a file of predictions in the task's official format."""


class TaskModel(ABC):
    """What `Task.build` gives, beside being an `nn.Module` with its token representation as `tokens`."""

    tokens: "TokenRepresentation"

    @abstractmethod
    def loss(self, examples: Sequence[Any]) -> "Tensor":
        """The mean loss of a batch of labelled examples, without the penalty of the mixes (`fit` adds it)."""

    @abstractmethod
    def predict(self, examples: Sequence[Any]) -> list[Any]:
        """A prediction for each example of a batch."""


def find(name: str) -> Task:
    """The task of that name; this loads torch."""
    require_known(name)
    return import_module(f"elmo.tasks.{name}.task").TASK


def default_settings(name: str) -> Any:
    """The task's settings as they are where nothing else is said; this loads no torch."""
    require_known(name)
    return import_module(f"elmo.tasks.{name}.settings").Settings()


def require_known(name: str) -> None:
    """ConfigError if there is no such task."""
    if name not in TASKS:
        raise ConfigError(f"there is no task {name!r}. The tasks are: {', '.join(TASKS)}.")
