"""Tensors in fewer bits than float32, as they lie in a file. They are widened where somebody asks for their values.

An embedder of a model stored in int8 keeps a quarter of the bytes this way, and the engine lays out what is stored
without rounding it again.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from elmo.shapes import Float, Int, Shaped


@dataclass(frozen=True)
class Narrow:
    """A tensor as it is stored: float16; bfloat16, as 16-bit integers; or int8, in steps of each row's own."""

    stored: Shaped[np.ndarray, "..."]
    steps: Float[np.ndarray, "rows 1"] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the tensor."""
        return self.stored.shape

    @property
    def dtype(self) -> np.dtype:
        """Of the values it stands for."""
        return np.dtype(np.float32)

    def rows(self, which: slice | Int[np.ndarray, " some"]) -> Float[np.ndarray, "*some_rows"]:
        """Some rows as float32, in memory of their own; of a single value that value."""
        part = self.stored[which] if self.stored.ndim else self.stored.copy()
        if part.dtype == np.uint16:
            return (part.astype(np.uint32) << np.uint32(16)).view(np.float32)
        found = part.astype(np.float32)
        if self.steps is not None:
            with np.errstate(over="ignore", invalid="ignore"):  # whoever reads a file refuses what isn't finite
                found *= self.steps[which]
        return found

    def __array__(self, dtype: np.dtype | None = None, copy: bool | None = None) -> Shaped[np.ndarray, "..."]:
        """The whole tensor; float32 unless another type is asked for."""
        whole = np.asarray(self.rows(slice(None)))
        return whole if dtype is None else whole.astype(dtype, copy=False)


Held = np.ndarray | Narrow


Form = TypeVar("Form")


class HeldArrays(Mapping[str, np.ndarray], Generic[Form]):
    """Tensors by name, kept in another form, from which each access makes an array."""

    def __init__(self, held: Mapping[str, Form]) -> None:
        self.held = dict(held)
        """What is kept of each."""

    def __getitem__(self, name: str) -> Float[np.ndarray, "..."]:
        return np.asarray(self.held[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.held)

    def __len__(self) -> int:
        return len(self.held)


class NarrowTensors(HeldArrays[Held]):
    """Tensors as they are stored: an access makes a float32 array of one that is narrower."""
