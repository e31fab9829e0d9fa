"""A weight laid out in panels as the structure that C reads, its products, and what the other structures need too.

What is laid out is checked once, when a structure is filled; what a call reads and writes, at that call. A structure
holds addresses, so its owner must keep the arrays alive.
"""

import ctypes
from collections.abc import Sequence

import numpy as np

from elmo.errors import ConfigError
from elmo.ops.native.arguments import address, addresses_of, aligned, arguments, of_numpy
from elmo.ops.native.kinds import FACTORS_IN_32_BITS, KINDS, ComputeType
from elmo.ops.native.library import Library
from elmo.shapes import Float, Int, UInt32

PANEL = 64
INTEGER, FLOAT, POINTER = ctypes.c_int64, ctypes.c_float, ctypes.c_void_p


def fields(kind: type, *names: str) -> list[tuple[str, type]]:
    """Some neighboring fields of one type."""
    return [(name, kind) for name in names]


# Field by field as in inference/layer.h.
class Packed(ctypes.Structure):
    """A weight in panels; one without addresses is a matrix that isn't there."""

    _fields_ = [*fields(POINTER, "weights", "scales", "sums"), *fields(INTEGER, "panels", "groups", "chunk")]


_WEIGHTS = arguments(weights="uint32 panels groups 64")
_STEPS = arguments(scales="float32 64*panels", sums="int32 chunks 64*panels")
_PRODUCT = arguments(inputs="float32 rows inner", out="float32 rows 64*panels")
PADDED_BIAS = arguments(bias="float32 64*panels")


class Matrix:
    """A weight in panels: products with it."""

    def __init__(
        self,
        library: Library,
        dtype: ComputeType,
        inner: int,
        weights: UInt32[np.ndarray, "panels groups 64"],
        scales: Float[np.ndarray, " outer"] | None,
        sums: Int[np.ndarray, "chunks outer"] | None,
        chunk: int,
    ) -> None:
        """As `engine.panels` lays it out; `inner`: values of a row that it is multiplied with."""
        require("a weight's columns", inner, at_least=1)
        require("chunk", chunk, at_least=1)
        groups = -(-inner // FACTORS_IN_32_BITS[dtype])
        sizes = {"groups": groups, "chunks": -(-groups // chunk)}
        places = addresses_of("elmo_product", _WEIGHTS, [weights], sizes, of_numpy)
        if dtype == "int8":
            places += addresses_of("elmo_product", _STEPS, [scales, sums], sizes, of_numpy)
        self._functions, self._kind = library.functions, KINDS[dtype]
        self._kept = weights, scales, sums
        self.dtype: ComputeType = dtype
        self.inner, self.panels, self.num_bytes = inner, sizes["panels"], weights.nbytes
        places += [None] * (3 - len(places))
        self.packed = Packed(*places, self.panels, groups, chunk)
        """For the structures here."""

    def multiply(
        self,
        inputs: Float[np.ndarray, "rows inner"],
        bias: Float[np.ndarray, " outer"] | None,
        out: Float[np.ndarray, "rows outer"],
        first: int,
        last: int,
    ) -> None:
        """Writes inputs @ weight.T + bias into the columns of the panels from `first` to `last`."""
        sizes = {"inner": self.inner, "panels": self.panels}
        require("the first panel", first, at_most=last)
        require("the last panel", last, at_most=self.panels)
        (from_place,) = addresses_of("elmo_product", _PRODUCT[:1], [inputs], sizes, of_numpy)
        (to_place,) = addresses_of("elmo_product", _PRODUCT[1:], [out], sizes)
        (bias_place,) = [None] if bias is None else addresses_of("elmo_product", PADDED_BIAS, [bias], sizes, of_numpy)
        matrix = ctypes.byref(self.packed)
        work = aligned(self._functions.elmo_product_work_bytes(matrix), np.uint8)
        require_done(
            self._functions.elmo_product(
                self._kind, matrix, bias_place, from_place, sizes["rows"], self.inner, first, last, address(work),
                to_place,
            )
        )  # fmt: skip


def require(what: str, found: int, *, equal: int | None = None, at_least: int = 0, at_most: int | None = None) -> int:
    """The number itself. Raises ConfigError for one that doesn't fit the others of a layout."""
    low, high = (at_least, at_most) if equal is None else (equal, equal)
    if found < low or (high is not None and found > high):
        needed = f"from {low} to {high}" if high is not None else f"at least {low}"
        raise ConfigError(
            f"{what} must be {needed if equal is None else equal} here (got {found}). Lay out the tensors of one model "
            "with its own config."
        )
    return found


def require_matrix(name: str, matrix: Matrix, inner: int, outer: int) -> None:
    """Raises ConfigError for a matrix of other sizes."""
    require(f"columns of {name}", matrix.inner, equal=inner)
    require(f"panels of {name}", matrix.panels, equal=-(-outer // PANEL))


def require_one_type(matrices: Sequence[Matrix]) -> None:
    """Raises ConfigError for matrices with factors of several types."""
    if len({matrix.dtype for matrix in matrices}) > 1:
        raise ConfigError(
            f"the weights have factors of {', '.join(sorted({matrix.dtype for matrix in matrices}))}, but C reads all "
            "of a layer alike. Lay them out with one type."
        )


def require_done(wrong: int, *names: str) -> None:
    """Raises ConfigError if C has refused to read something."""
    if wrong < 0:
        raise ConfigError(
            "the native library has no products for this processor within the instruction sets that it may use now. "
            "Unset ELMO_INSTRUCTIONS, or set ELMO_NATIVE=0: then numpy computes."
        )
    if wrong:
        raise ConfigError(
            f"{names[wrong - 1]} leads out of the arrays that the native library reads and writes here. Pass values "
            "that count from 0 and stay within their tables, rows and sentences."
        )
