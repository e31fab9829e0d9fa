"""What a layer reads and writes: rows, longest first, so that those still reading are a prefix."""

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from elmo.ops.native.memory import aligned
from elmo.ops.native.threads import leave_team
from elmo.shapes import Float, Int

_CACHE_LINE = 16  # in values of 32 bits


class Turns(NamedTuple):
    """Sentences that rows read one after the other. Both arrays are parallel to `Reading.places`."""

    begins: Int[np.ndarray, " tokens"]
    """The sentence that begins with this token, or -1: its state takes the place of the row's."""
    ends: Int[np.ndarray, " tokens"]
    """The sentence that ends with this token, or -1: it is handed the row's state."""


class Reading(NamedTuple):
    """The tokens of some rows, for one layer. A row is one sentence, or with `turns` several in turn."""

    alive: Int[np.ndarray, " steps"]
    """Rows that still have a token at each step."""
    places: Int[np.ndarray, " tokens"]
    """Where each token's input and output lie, all rows of step 0, then of step 1 ..."""
    inputs: Float[np.ndarray, "positions dim"]
    outputs: Float[np.ndarray, "positions projection"]
    """Rows without gaps in them, however far apart."""
    hidden: Float[np.ndarray, "sentences projection"]
    cell: Float[np.ndarray, "sentences cell"]
    """The state of each sentence, brought up to date in place."""
    skips: bool
    """Whether the inputs are added to the outputs."""
    turns: Turns | None = None

    @property
    def rows(self) -> int:
        """Of the computation: those that read a token at the first step."""
        return int(self.alive[0]) if len(self.alive) else 0


class Shared(NamedTuple):
    """What the threads of a team have in common during one run."""

    made: Float[np.ndarray, "rows cell"]
    arrivals: Int[np.ndarray, "team values"]
    hidden: Float[np.ndarray, "rows projection"] | None
    """Where rows that read several sentences keep their state."""

    @classmethod
    def of(cls, team: int, reading: Reading) -> "Shared":
        """For `team` threads."""
        return cls(
            aligned((reading.rows, reading.cell.shape[1]), np.float32),
            np.zeros((team, _CACHE_LINE), np.int32),
            aligned((reading.rows, reading.hidden.shape[1]), np.float32) if reading.turns else None,
        )

    def leave(self, rank: int) -> None:
        """No thread of the team waits any more for this one."""
        leave_team(self.arrivals, rank)


class Sizes(NamedTuple):
    """What a layer's inputs and its state must have."""

    dim: int
    projection: int
    cell: int
    dtype: np.dtype
    """Of vectors and states."""


@runtime_checkable
class Layer(Protocol):
    """One layer of one direction, of either tier."""

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

    def run(self, reading: Reading, shared: Shared | None = None, rank: int = 0) -> None:
        """Reads all tokens of the reading, alone or as one thread of a team."""
        ...
