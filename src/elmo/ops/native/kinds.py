"""What the factors of matrix products are rounded to; everything between the products stays float32."""

from typing import Literal

from elmo.ops import native

ComputeType = Literal["float32", "bfloat16", "int8"]

KINDS: dict[ComputeType, int] = {"float32": 1, "bfloat16": 2, "int8": 4}
"""How the library numbers them."""
FACTORS_IN_32_BITS: dict[ComputeType, int] = {"float32": 1, "bfloat16": 2, "int8": 4}


def native_types() -> tuple[ComputeType, ...]:
    """The factors for which the library has products and layers on this processor; none without the library."""
    loaded = native.library()
    kinds = 0 if loaded is None else loaded.kinds()
    return tuple(dtype for dtype, bit in KINDS.items() if kinds & bit)
