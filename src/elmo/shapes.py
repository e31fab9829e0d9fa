"""Shapes in signatures, `Float[np.ndarray, "batch tokens dim"]`, written and checked as jaxtyping does.

Tests load jaxtyping first, and every call is checked. Elsewhere nobody checks, and loading it takes a tenth of a
second, so there the annotation is the array's type alone.
"""

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or "jaxtyping" in sys.modules:
    from jaxtyping import Bool, Float, Float32, Int, Shaped, UInt8, UInt16, UInt32, UInt64
else:

    class _Unchecked:
        def __class_getitem__(cls, item: tuple[Any, str]) -> Any:
            return item[0]

    Bool = Float = Float32 = Int = Shaped = UInt8 = UInt16 = UInt32 = UInt64 = _Unchecked

__all__ = ["Bool", "Float", "Float32", "Int", "Shaped", "UInt8", "UInt16", "UInt32", "UInt64"]
