"""Ensembles: saved models of one task that decide together.

What is averaged depends on the task (docs/specification-tasks.md, 2.3): probabilities of labels, of tags and of an
answer's first and last token; a CRF's emissions and transitions; coreference's mention and antecedent scores. Each
model keeps its own encoder; models with the same one share it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from elmo.errors import ConfigError
from elmo.tasks.registry import AnyTask
from elmo.tasks.saved_model import SavedTaskModel, load
from elmo.tasks.settings import to_table
from elmo.tasks.task_model import E, P, TaskModel, mean_of
from elmo.tasks.tokens.frozen_layers import FrozenLayers

_READING = ("text_tokenizer", "question_tokenizer", "split_hyphens", "plain_quotes")
"""Settings that decide what tokens an example has; the first model's are used for all."""


class Ensemble(TaskModel[E, P]):
    """Models of one task as one model, which predicts from the average of their distributions."""

    def __init__(self, models: Sequence[TaskModel[E, P]]) -> None:
        """Raises ConfigError if the models don't decide between the same things, or their task knows no average."""
        super().__init__()
        first, *others = models
        for number, other in enumerate(others, start=2):
            if type(other) is not type(first) or other.outcomes != first.outcomes:
                raise ConfigError(
                    f"model {number} of the ensemble is a {type(other).__name__} that decides between "
                    f"{other.outcomes}, but the first one a {type(first).__name__} that decides between "
                    f"{first.outcomes}: they can't be averaged. Use models trained on the same labels with the same "
                    "settings."
                )
        if first.outcomes is None:
            raise ConfigError(
                f"models of type {type(first).__name__} can't be averaged, because they don't define `outcomes`. "
                "Define it, and let `decide` average outputs, or name a single model."
            )
        self.members = nn.ModuleList(models)
        self.tokens = first.tokens

    @property
    def models(self) -> list[TaskModel[E, P]]:
        """The single models."""
        return [model for model in self.members if isinstance(model, TaskModel)]

    def forward(self, examples: Sequence[E]) -> list[Any]:
        """The outputs of each model."""
        return [model(examples) for model in self.models]

    def loss_of(self, outputs: list[Any], examples: Sequence[E]) -> Float[Tensor, ""]:
        """The mean of the models' losses."""
        return mean_of([model.loss_of(own, examples) for model, own in zip(self.models, outputs, strict=True)])

    def decide(self, outputs: Sequence[list[Any]], examples: Sequence[E]) -> list[P]:
        """The predictions of all models together."""
        return self.models[0].decide([one for own in outputs for one in own], examples)


def load_ensemble(
    folders: Sequence[Path | str],
    *,
    task: AnyTask | None = None,
    encoder: str | None = None,
    model: str | None = None,
    device: str = "auto",
    dtype: str = "float32",
) -> SavedTaskModel[Any, Any, Any]:
    """Saved models, or the best models of runs, as one; of a single folder, what `load` gives.

    The other arguments are those of `load`, for all of them. Raises what it raises, and ConfigError for models of
    different tasks or that can't be averaged.
    """
    known: dict[tuple[str, ...], FrozenLayers] = {}
    found = [
        load(folder, task=task, encoder=encoder, model=model, device=device, dtype=dtype, known_encoders=known)
        for folder in folders
    ]
    first = found[0]
    for folder, other in zip(folders, found, strict=True):
        if other.task.name != first.task.name:
            raise ConfigError(
                f"{folder}: is a model of the task {other.task.name!r}, {folders[0]} one of {first.task.name!r}. "
                "Name models of the same task."
            )
        one, two = to_table(first.settings), to_table(other.settings)
        for name in _READING:
            if one.get(name) != two.get(name):
                raise ConfigError(
                    f"{folder}: was trained with {name} {two[name]!r}, {folders[0]} with {one[name]!r}, so they don't "
                    "read the same text as the same tokens. Name models that were trained on the same reading."
                )
    if len(found) == 1:
        return first
    together = Ensemble([one.model for one in found]).eval()
    return SavedTaskModel(first.task, first.settings, first.vocabulary, together, first.metadata)
