"""Calls of the native library's training passes with torch tensors."""

import torch
from torch import Tensor

from elmo.ops import native


def fitting_kind(factor_dtype: torch.dtype, *tensors: Tensor) -> str | None:
    """The suffix of the functions that take these tensors ("f32" or "bf16"); None if the torch version must run.

    They must be contiguous, on a CPU, and float32 or of the type of the factors of matrix products.
    """
    kind = {torch.float32: "f32", torch.bfloat16: "bf16"}.get(factor_dtype)
    if kind is None or native.library() is None:
        return None
    fitting = (
        tensor.device.type == "cpu" and tensor.is_contiguous() and tensor.dtype in (torch.float32, factor_dtype)
        for tensor in tensors
    )
    return kind if all(fitting) else None


def call(name: str, *arguments: int | float | Tensor) -> None:
    """Run a function of the library; it releases the interpreter, so other threads go on meanwhile."""
    plain = (argument.data_ptr() if isinstance(argument, Tensor) else argument for argument in arguments)
    getattr(native.library(), name)(*plain)
