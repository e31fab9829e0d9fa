"""Which tier computes: the native library where it has the factors, else numpy."""

from collections.abc import Iterable
from typing import Literal

import numpy as np

from elmo.engine.held_once import Weight
from elmo.engine.native.layer import NativeLayer
from elmo.engine.native.product import NativeProduct
from elmo.engine.network_weights import LayerWeights, LSTMSettings
from elmo.engine.plain.layer import PlainLayer
from elmo.engine.plain.product import PlainProduct
from elmo.engine.reading import Layer
from elmo.ops.native.kinds import ComputeType, native_types

Tier = Literal["native", "numpy"]
Product = NativeProduct | PlainProduct


def tier_for(dtype: ComputeType, tensors: Iterable[Weight] = ()) -> Tier:
    """What computes with factors of `dtype` here; the library takes float32 tensors only."""
    fits = dtype in native_types() and all(tensor.dtype == np.float32 for tensor in tensors)
    return "native" if fits else "numpy"


def product(weight: Weight, dtype: ComputeType) -> Product:
    """The weight, ready for products."""
    made = NativeProduct if tier_for(dtype, [weight]) == "native" else PlainProduct
    return made(weight, dtype)


def layer(weights: LayerWeights, settings: LSTMSettings, dtype: ComputeType) -> Layer:
    """The layer, ready to read."""
    tensors = [tensor for tensor in weights if tensor is not None]
    made = NativeLayer if tier_for(dtype, tensors) == "native" else PlainLayer
    return made(weights, settings, dtype)
