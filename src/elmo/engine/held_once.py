"""Matrices that are held in one form: as they were given, or as they were laid out.

Laid out weights have every bit of the given ones, unless they were rounded to fewer bits on the way. So an engine lets
go of each matrix as soon as it is laid out, and makes it again from there for the few who ask: a copy of the engine,
the biLM in torch, the hash of a model.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from elmo.shapes import Float
from elmo.weights.native.narrow import Held, HeldArrays, NarrowTensors


class HeldOnce:
    """One matrix. Its layout may change while another thread asks for its values."""

    def __init__(self, given: Held) -> None:
        self.shape: tuple[int, ...] = given.shape
        self.dtype: np.dtype = given.dtype
        self._form: Held | Callable[[], np.ndarray] = given

    @property
    def given(self) -> Held:
        """As it was given, or an array that is made from what was laid out."""
        form = self._form
        return form() if callable(form) else form

    def hold(self, restored: Callable[[], Float[np.ndarray, "outer inner"]]) -> None:
        """Lets go of what was given; `restored` makes the same values from what was laid out."""
        self._form = restored

    def __array__(self, dtype: np.dtype | None = None, copy: bool | None = None) -> Float[np.ndarray, "outer inner"]:
        """The values."""
        return np.asarray(self.given, dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy holds the values, not the layout."""
        return type(self), (np.asarray(self),)


Weight = np.ndarray | HeldOnce


def given(weight: "Held | HeldOnce") -> Held:
    """The weight itself, held once or not."""
    return weight.given if isinstance(weight, HeldOnce) else weight


class HeldTensors(HeldArrays[Weight]):
    """Tensors of an engine, matrices held once."""

    def __init__(self, tensors: Mapping[str, np.ndarray]) -> None:
        forms: Mapping[str, Held] = tensors.held if isinstance(tensors, NarrowTensors) else tensors
        super().__init__(
            {
                name: HeldOnce(form) if len(form.shape) == 2 and name.endswith("weight") else np.asarray(form)
                for name, form in forms.items()
            }
        )
