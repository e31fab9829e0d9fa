"""Which backend computes: the native library where it has the factors, else numpy."""

from collections.abc import Iterable
from typing import Literal

import numpy as np

from elmo.config import LSTMSettings
from elmo.engine.native import NativeLayer, NativeProduct
from elmo.engine.plain import PlainLayer, PlainProduct
from elmo.engine.weight_store import LayerWeights, Weight
from elmo.ops.native.kinds import ComputeType, native_types

Backend = Literal["native", "numpy"]
Product = NativeProduct | PlainProduct
Layer = NativeLayer | PlainLayer
"""One layer of one direction."""


def backend_for(dtype: ComputeType, tensors: Iterable[Weight] = ()) -> Backend:
    """What computes with factors of `dtype` here; the library takes float32 tensors only."""
    fits = dtype in native_types() and all(tensor.dtype == np.float32 for tensor in tensors)
    return "native" if fits else "numpy"


def product(weight: Weight, dtype: ComputeType) -> Product:
    """The weight, ready for products."""
    made = NativeProduct if backend_for(dtype, [weight]) == "native" else PlainProduct
    return made(weight, dtype)


def layer(weights: LayerWeights, settings: LSTMSettings, dtype: ComputeType) -> Layer:
    """The layer, ready to read."""
    tensors = [tensor for tensor in weights if tensor is not None]
    made = NativeLayer if backend_for(dtype, tensors) == "native" else PlainLayer
    return made(weights, settings, dtype)
