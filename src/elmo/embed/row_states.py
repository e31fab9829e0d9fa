"""RowStates: what `state="carry"` remembers of each row between calls.

Source: AllenNLP `allennlp/modules/encoder_base.py` (specification, 3.4). Row i continues row i of the call before,
whatever sentence it held. More rows than ever: the new ones start at zero. Fewer: the others keep their state.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor

from elmo.errors import ConfigError
from elmo.model.bilm import BiLM, BiLMState
from elmo.process.thread_lock import ThreadLock


class RowStates:
    """The state of as many rows as the largest batch so far had."""

    def __init__(self, bilm: BiLM) -> None:
        self._bilm = bilm
        self._state: BiLMState | None = None
        self._lock = ThreadLock()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else uses the state inside the block; ConfigError if another thread does so now.

        Waiting would not help: each call continues the one before, so the vectors would depend on which came first.
        """
        if not self._lock.taken():
            raise ConfigError(
                "state is 'carry', in which each call continues the one before, and another thread's call is still "
                "running. Make the calls one after the other, or use an Embedder for each thread."
            )
        try:
            yield
        finally:
            self._lock.free()

    @property
    def num_rows(self) -> int:
        """Rows remembered."""
        return 0 if self._state is None else self._state.hidden.shape[1]

    @torch.inference_mode()
    def first(self, rows: int) -> BiLMState:
        """What a batch of `rows` rows continues."""
        if rows > self.num_rows:
            zeros = self._bilm.zero_state(rows - self.num_rows)
            if self._state is None:
                self._state = zeros
            else:
                pairs = ((self._state.hidden, zeros.hidden), (self._state.cell, zeros.cell))
                self._state = BiLMState(*(torch.cat(pair, dim=1) for pair in pairs))
        assert self._state is not None  # rows is at least 1
        device = self._bilm.device
        self._state = BiLMState(self._state.hidden.to(device), self._state.cell.to(device))
        return self._state.rows(slice(rows))

    @torch.inference_mode()
    def update(self, new: BiLMState) -> None:
        """The state after a batch, for its rows."""
        old = self.first(new.hidden.shape[1])
        _keep_used(old.hidden, new.hidden)
        _keep_used(old.cell, new.cell)

    @torch.inference_mode()
    def reset(self, rows: Sequence[int] | None = None) -> None:
        """Forgets some rows, or all."""
        if rows is None:
            self._state = None
            return
        for row in rows:
            if isinstance(row, bool) or not isinstance(row, int | np.integer) or not 0 <= row < self.num_rows:
                raise ConfigError(
                    f"row {row!r} can't be reset: {self.num_rows} rows are remembered, counted from 0. "
                    "Rows appear with the first batch that has them; reset() forgets all."
                )
        if self._state is not None:
            for part in (self._state.hidden, self._state.cell):
                part[:, list(rows)] = 0

    def to_arrays(self) -> dict[str, np.ndarray]:
        """`hidden` (layers, rows, projections) and `cell` (layers, rows, cells); nothing if nothing is remembered."""
        if self._state is None:
            return {}
        parts = {"hidden": self._state.hidden, "cell": self._state.cell}
        return {name: part.cpu().numpy().copy() for name, part in parts.items()}

    def load_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """The reverse of `to_arrays`."""
        if not arrays:
            self._state = None
            return
        self._state = BiLMState(*checked_state(arrays, self._bilm, with_rows=True))


def checked_state(arrays: Mapping[str, np.ndarray], bilm: BiLM, *, with_rows: bool) -> tuple[Tensor, Tensor]:
    """`hidden` and `cell` as tensors of the model's device, with an axis of rows or without; else ConfigError."""
    config, directions = bilm.config, len(bilm.config.directions)
    sizes = {"hidden": directions * config.projection_size, "cell": directions * config.cell_size}
    if sorted(arrays) != sorted(sizes):
        raise ConfigError(f"a state has the arrays hidden and cell, but this one has {sorted(arrays)}. Pass it whole.")
    rows = np.shape(arrays["hidden"])[1:2] if with_rows else ()
    for name, size in sizes.items():
        expected = (config.num_layers, *rows, size)
        if np.shape(arrays[name]) != expected or len(expected) != 2 + with_rows:
            raise ConfigError(
                f"{name!r} of the state has shape {np.shape(arrays[name])}, this model's has {expected}: they belong "
                "to different models or batches. Use a state that this model made."
            )
        if not np.isfinite(np.asarray(arrays[name], np.float32)).all():
            raise ConfigError(
                f"{name!r} of the state is not finite (NaN or inf), so every vector that continues it would be wrong. "
                "Use a state that this model made."
            )
    hidden, cell = (torch.tensor(np.asarray(arrays[name], np.float32), device=bilm.device) for name in sizes)
    return hidden, cell


def _keep_used(old: Tensor, new: Tensor) -> None:
    """Writes into `old` the rows of `new` that were used: AllenNLP knows them by their layer 0 not summing to zero."""
    used = new[0].sum(dim=1) != 0
    old.copy_(torch.where(used[None, :, None], new, old))
