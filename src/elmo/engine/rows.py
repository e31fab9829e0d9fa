"""What a layer reads and writes: rows, longest first, so that those still reading are a prefix."""

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from elmo.engine.weight_store import Sizes
from elmo.ops.native.lstm import Steps, Team
from elmo.shapes import Float


class RowBatch(NamedTuple):
    """The tokens of some rows, for one layer. A row is one sentence, or with `steps.turns` several in turn."""

    steps: Steps
    inputs: Float[np.ndarray, "positions dim"]
    outputs: Float[np.ndarray, "positions projection"]
    """Rows without gaps in them, however far apart."""
    hidden: Float[np.ndarray, "sentences projection"]
    cell: Float[np.ndarray, "sentences cell"]
    """The state of each sentence, brought up to date in place."""
    skips: bool
    """Whether the inputs are added to the outputs."""

    def team(self, threads: int) -> Team:
        """What `threads` threads need to read it together."""
        return Team(threads, self.steps, self.hidden.shape[1], self.cell.shape[1])


@runtime_checkable
class Layer(Protocol):
    """One layer of one direction, of either backend."""

    @property
    def sizes(self) -> Sizes:
        """Of what it reads."""
        ...

    @property
    def shares_columns(self) -> bool:
        """Whether several threads can run it together."""
        ...

    @property
    def num_bytes(self) -> int:
        """Of the weights that every step reads."""
        ...

    def run(self, batch: RowBatch, team: Team | None = None, rank: int = 0) -> None:
        """Reads all tokens of the batch, alone or as one thread of a team."""
        ...
