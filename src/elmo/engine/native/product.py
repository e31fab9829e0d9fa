"""The product through the native library: float32, bfloat16 or int8 factors, each row on its own."""

from collections.abc import Callable

import numpy as np

from elmo.engine.held_once import Weight
from elmo.engine.native.panels import PANEL, lay_out
from elmo.ops.native.arguments import aligned
from elmo.ops.native.kinds import ComputeType
from elmo.ops.native.structures import require
from elmo.ops.native.threads import num_threads, run_parallel
from elmo.shapes import Float

# Multiplications of one thread's share below which making a thread takes longer than it saves.
_ENOUGH_FOR_A_THREAD = 4_000_000


class NativeProduct:
    """One weight (outer, inner), ready for products."""

    def __init__(self, weight: Weight, dtype: ComputeType) -> None:
        self.outer, self.inner = weight.shape
        self._matrix = lay_out(weight, dtype).matrix()

    def __call__(
        self, inputs: Float[np.ndarray, "rows inner"], bias: Float[np.ndarray, " outer"] | None = None
    ) -> Float[np.ndarray, "rows outer"]:
        """inputs @ weight.T + bias"""
        inputs = np.ascontiguousarray(inputs)
        require("values of an input", inputs.shape[-1], equal=self.inner)
        panels = self._matrix.panels
        out = aligned((len(inputs), PANEL * panels), np.float32)
        if bias is not None:
            bias = np.pad(bias, (0, PANEL * panels - self.outer))
        size = len(inputs) * PANEL * panels * self.inner
        parts = max(1, min(num_threads(), panels, size // _ENOUGH_FOR_A_THREAD))
        limits = [panels * part // parts for part in range(parts + 1)]
        run_parallel([self._job(inputs, bias, out, *limits[part : part + 2]) for part in range(parts)])
        return out[:, : self.outer]

    def _job(
        self,
        inputs: Float[np.ndarray, "rows inner"],
        bias: Float[np.ndarray, " padded"] | None,
        out: Float[np.ndarray, "rows padded"],
        first: int,
        last: int,
    ) -> Callable[[], None]:
        """The panels from `first` to `last`, for one thread."""
        return lambda: self._matrix.multiply(inputs, bias, out, first, last)
