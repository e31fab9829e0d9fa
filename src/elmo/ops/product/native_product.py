"""The product through the native library: float32, bfloat16 or int8 factors, each row on its own."""

import ctypes
from typing import Any, cast

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from elmo.ops import native
from elmo.ops.native.kinds import KINDS, ComputeType
from elmo.ops.native.threads import num_threads, run_together
from elmo.ops.product.panels import PANEL, Panels, lay_out

# Multiplications of one thread's share below which making a thread takes longer than it saves.
_ENOUGH_FOR_A_THREAD = 4_000_000


class PackedMatrix(ctypes.Structure):
    """native/inference/layer.h, Packed. Points into `Panels`, which must live as long."""

    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("weights", "scales", "sums")),
        *((name, ctypes.c_int64) for name in ("panels", "groups", "chunk")),
    ]

    @classmethod
    def of(cls, panels: Panels | None) -> "PackedMatrix":
        """None: a matrix that isn't there."""
        if panels is None:
            return cls()
        pointers = (None if tensor is None else tensor.data_ptr() for tensor in panels[:3])
        return cls(*pointers, panels.weights.shape[0], panels.weights.shape[1], panels.chunk)


class NativeProduct:
    """One weight, ready for products."""

    def __init__(self, weight: Float[Tensor, "outer inner"], dtype: ComputeType) -> None:
        self.outer, self.inner = weight.shape
        self._kind = KINDS[dtype]
        self._panels = lay_out(weight, dtype)
        self._matrix = PackedMatrix.of(self._panels)

    def __call__(
        self, inputs: Float[Tensor, "rows inner"], bias: Float[Tensor, " outer"] | None = None
    ) -> Float[Tensor, "rows outer"]:
        """inputs @ weight.T + bias"""
        inputs = inputs.float().contiguous()
        padded = PANEL * self._matrix.panels
        out = torch.empty(len(inputs), padded, dtype=torch.float32, device="cpu")
        if bias is not None:
            bias = functional.pad(bias.detach(), (0, padded - self.outer)).contiguous()
        size = len(inputs) * padded * self.inner
        parts = max(1, min(num_threads(), self._matrix.panels, size // _ENOUGH_FOR_A_THREAD))
        limits = [self._matrix.panels * part // parts for part in range(parts + 1)]
        run_together([self._job(inputs, bias, out, *limits[part : part + 2]) for part in range(parts)])
        return out[:, : self.outer]

    def _job(self, inputs: Tensor, bias: Tensor | None, out: Tensor, first: int, last: int):  # noqa: ANN202
        library, matrix = cast(Any, native.library()), ctypes.byref(self._matrix)

        def run() -> None:
            work = torch.empty(library.elmo_product_work_bytes(matrix), dtype=torch.uint8, device="cpu")
            pointers = (None if bias is None else bias.data_ptr(), inputs.data_ptr())
            sizes = (*inputs.shape, first, last)
            library.elmo_product(self._kind, matrix, *pointers, *sizes, work.data_ptr(), out.data_ptr())

        return run
