"""What a layer reads and writes: the rows of a batch, longest first, so that those still reading are a prefix."""

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from elmo.engine.memory import aligned
from elmo.shapes import Float, Int

_CACHE_LINE = 16  # in values of 32 bits


class Reading(NamedTuple):
    """The tokens of some rows, for one layer."""

    alive: Int[np.ndarray, " steps"]
    """Rows that still have a token at each step."""
    places: Int[np.ndarray, " tokens"]
    """Where each token's input and output lie, all rows of step 0, then of step 1 ..."""
    inputs: Float[np.ndarray, "positions dim"]
    outputs: Float[np.ndarray, "positions projection"]
    """Rows without gaps in them, however far apart."""
    hidden: Float[np.ndarray, "batch projection"]
    cell: Float[np.ndarray, "batch cell"]
    """The state, brought up to date in place."""
    skips: bool
    """Whether the inputs are added to the outputs."""


class Shared(NamedTuple):
    """What the threads of a team have in common during one run."""

    made: Float[np.ndarray, "batch cell"]
    arrivals: Int[np.ndarray, "team values"]

    @classmethod
    def of(cls, team: int, reading: Reading) -> "Shared":
        """For `team` threads."""
        return cls(aligned(reading.cell.shape, np.float32), np.zeros((team, _CACHE_LINE), np.int32))


@runtime_checkable
class Layer(Protocol):
    """One layer of one direction, of either tier."""

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
