"""What sentences start from: with `state="carry"` the state of each row between calls, with "warm" one fixed state.

Carry: row i continues row i of the call before, whatever sentence it held. More rows than ever: the new ones start at
zero. Fewer: the others keep their state. Source: AllenNLP `allennlp/modules/encoder_base.py` (specification, 3.4).
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from elmo.config import BiLMConfig
from elmo.disk.atomic import new_file
from elmo.engine.engine import State, zero_state
from elmo.errors import ConfigError
from elmo.process.thread_lock import ThreadLock
from elmo.shapes import Float
from elmo.weights.checkpoint import content_hash
from elmo.weights.native.names import WARM_STATE_FILE
from elmo.weights.native.read import read as read_checkpoint
from elmo.weights.native.tensor_file import write_tensors


class RowStates:
    """The state of as many rows as the largest batch so far had."""

    def __init__(self, config: BiLMConfig) -> None:
        self._config = config
        self._state = zero_state(config, 0)
        self._lock = ThreadLock()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else uses the state inside the block; ConfigError if another thread does so now."""
        mutex = self._lock.mutex
        if not mutex.acquire(blocking=False):
            raise ConfigError(
                "state is 'carry', in which each call continues the previous one, and another thread's call is still "
                "running. Make the calls one after the other, or use an Embedder for each thread."
            )
        try:
            yield
        finally:
            mutex.release()

    @property
    def num_rows(self) -> int:
        """Rows remembered."""
        return self._state.hidden.shape[1]

    def first(self, rows: int) -> State:
        """What a batch of `rows` rows continues."""
        if rows > self.num_rows:
            new = zero_state(self._config, rows - self.num_rows)
            self._state = State(*(np.concatenate(pair, axis=1) for pair in zip(self._state, new, strict=True)))
        return self._state.rows(slice(rows))

    def update(self, new: State) -> None:
        """The state after a batch, of the rows it used: AllenNLP knows them by their layer 0 not summing to zero."""
        for old_part, new_part in zip(self.first(new.hidden.shape[1]), new, strict=True):
            used = new_part[0].sum(axis=1) != 0
            old_part[:, used] = new_part[:, used]

    def reset(self, rows: Sequence[int] | None = None) -> None:
        """Forgets some rows, or all. IndexError for a row that no batch had."""
        if rows is None:
            self._state = zero_state(self._config, 0)
            return
        rows = list(rows)
        for part in self._state:
            part[:, rows] = 0

    def to_arrays(self) -> dict[str, Float[np.ndarray, "layers rows width"]]:
        """`hidden` (layers, rows, projections) and `cell` (layers, rows, cells); nothing if nothing is remembered."""
        return {name: part.copy() for name, part in self._state._asdict().items()} if self.num_rows else {}

    def load_arrays(self, arrays: Mapping[str, Float[np.ndarray, "layers rows width"]]) -> None:
        """The reverse of `to_arrays`."""
        self._state = checked_state(arrays, self._config, with_rows=True) if arrays else zero_state(self._config, 0)


def checked_state(
    arrays: Mapping[str, Float[np.ndarray, "layers *rows width"]], config: BiLMConfig, *, with_rows: bool
) -> State:
    """A copy of `hidden` and `cell`, with an axis of rows or without; ConfigError if they are not of such a model."""
    directions = len(config.directions)
    sizes = {"hidden": directions * config.projection_size, "cell": directions * config.cell_size}
    rows = (np.shape(arrays.get("hidden", ()))[1:2] or (1,)) if with_rows else ()
    found = {name: np.shape(array) for name, array in arrays.items()}
    expected = {name: (config.num_layers, *rows, size) for name, size in sizes.items()}
    if found != expected:
        raise ConfigError(
            f"the state has arrays of the shapes {found}, this model's has {expected}: they belong to different models "
            "or batches. Use a state that this model made."
        )
    for name in sizes:
        if not np.isfinite(np.asarray(arrays[name], np.float32)).all():
            raise ConfigError(
                f"{name!r} of the state is not finite (NaN or inf), so every vector that continues it would be wrong. "
                "Use a state that this model made."
            )
    return State(*(np.array(arrays[name], np.float32) for name in sizes))


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
            write_tensors(unfinished, arrays)


def require_warm_state(state: str, warm_state: object) -> None:
    """ConfigError if sentences are to start from a warm state that is missing."""
    if state == "warm" and warm_state is None:
        raise ConfigError(
            "state is 'warm', but the model has no warm state: nobody has made one. Make it once: embedder = "
            "Embedder.from_pretrained(MODEL); embedder.warm_up(sentences); embedder.save_warm_state(MODEL_FOLDER) - or "
            "pass what warm_up gives as warm_state."
        )
