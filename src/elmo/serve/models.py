"""ServedModel: a name that requests use, its embedder, and its substitutes if it has a softmax."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elmo.embed.embedder import Embedder, StatePolicy
from elmo.errors import ConfigError
from elmo.weights import formats, hub

if TYPE_CHECKING:
    from elmo.lm.language_model import LanguageModel
    from elmo.lm.substitutes import Prediction

PredictSubstitutes = Callable[[Sequence[str], int, int], "dict[str, Prediction]"]
"""(sentence, place, count) -> prediction of each direction, as `elmo.lm.substitutes.substitutes` gives it."""


@dataclass(frozen=True)
class ServedModel:
    """A model under the name that requests call it by."""

    name: str
    embedder: Embedder
    substitutes: PredictSubstitutes | None = field(default=None, repr=False)
    """None: the model has no softmax, so it can't predict words."""

    def __post_init__(self) -> None:
        if self.embedder.state == "carry":
            raise ConfigError(
                f"{self.name}: its embedder has state 'carry', in which vectors depend on the order of the calls, "
                "but requests reach a server in no fixed order. Use 'zero' or 'warm'."
            )

    @classmethod
    def load(
        cls, model: str | None = None, *, device: str = "auto", dtype: str = "float32", state: StatePolicy = "zero"
    ) -> "ServedModel":
        """A model by name, path or hub id (None: $ELMO_MODEL, or the bundled one); see `Embedder.from_pretrained`.

        It is served under the last part of its path or hub id.
        """
        files = hub.resolve(model)
        # With the softmax: a damaged one is refused now, not at the first request that needs it.
        checkpoint = formats.read(files)
        has_softmax = checkpoint.softmax is not None
        network = replace(checkpoint, softmax=None)
        embedder = Embedder.from_pretrained(network, device=device, dtype=dtype, state=state)
        folder = files[0] if isinstance(files, tuple) else files
        path = os.path.abspath(model or folder)  # noqa: PTH100 - "." and ".." too; resolve() would follow a link
        name = Path(path).name
        return cls(name, embedder, _substitutes_of(files, device) if has_softmax else None)

    @cached_property
    def description(self) -> dict[str, Any]:
        """What the model is, as plain values for JSON: `Embedder.describe()` when it was first asked."""
        return self.embedder.describe()


def _substitutes_of(model: hub.Model, device: str) -> PredictSubstitutes:
    """Reads network and softmax at the first call, which only the compute thread makes."""

    @cache
    def loaded() -> "LanguageModel":
        from elmo.lm.named_model import load_language_model

        return load_language_model(model, device)

    def predict(sentence: Sequence[str], place: int, count: int) -> "dict[str, Prediction]":
        from elmo.lm.substitutes import substitutes

        return substitutes(loaded(), sentence, place, count)

    return predict
