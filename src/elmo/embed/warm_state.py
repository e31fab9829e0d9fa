"""WarmState: the one state that every sentence starts from with `state="warm"`, and its file in a model's folder."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from elmo.config import BiLMConfig
from elmo.disk.atomic import new_file
from elmo.embed.row_states import checked_state
from elmo.engine.engine import State
from elmo.errors import ConfigError
from elmo.shapes import Float
from elmo.weights.checkpoint import content_hash
from elmo.weights.native.names import WARM_STATE_FILE
from elmo.weights.native.read import read as read_checkpoint
from elmo.weights.native.tensor_file import write_tensors


@dataclass(frozen=True)
class WarmState:
    """What was left after reading some sentences."""

    row: State
    """Of one row."""

    @classmethod
    def of(cls, arrays: Mapping[str, Float[np.ndarray, "layers width"]], config: BiLMConfig) -> Self:
        """From `hidden` (layers, projections) and `cell` (layers, cells). Raises ConfigError for other shapes."""
        hidden, cell = checked_state(arrays, config, with_rows=False)
        return cls(State(hidden[:, None], cell[:, None]))

    def to_arrays(self) -> dict[str, Float[np.ndarray, "layers width"]]:
        """What `of` takes."""
        return {name: part[:, 0].copy() for name, part in self.row._asdict().items()}

    def of_rows(self, rows: int) -> State:
        """The same for each of `rows` rows."""
        return State(*(part.repeat(rows, axis=1) for part in self.row))

    def save(self, folder: Path, model_hash: str, *, force: bool = False) -> None:
        """Stores it in the folder of the model that it is of, whose weights have the hash `model_hash`.

        Raises ConfigError for the folder of another model.
        """
        found = content_hash(read_checkpoint(folder))
        if found != model_hash:
            raise ConfigError(
                f"{folder} holds other weights ({found[:12]}) than this embedder ({model_hash[:12]}): the state "
                "of one model means nothing to another. Name the folder this model was loaded from."
            )
        arrays = self.to_arrays()
        size = sum(array.nbytes for array in arrays.values())
        with new_file(folder / WARM_STATE_FILE, size=size, force=force) as unfinished:
            write_tensors(unfinished, arrays, "float32")


def require_warm_state(state: str, warm_state: object) -> None:
    """ConfigError if sentences are to start from a warm state, but there is none."""
    if state == "warm" and warm_state is None:
        raise ConfigError(
            "state is 'warm', but the model has no warm state: nobody has made one. Make it once: embedder = "
            "Embedder.from_pretrained(MODEL); embedder.warm_up(sentences); embedder.save_warm_state(MODEL_FOLDER) - or "
            "pass what warm_up gives as warm_state."
        )
