"""What a C function takes, one argument after the other, and the check of a call's arrays against it.

An argument is written "float32 rows 4*size": its type, then its axes. An axis is the name of a size, or a multiple of
one. The first argument that has a size gives it, and all others must agree. C has no other word for how long an array
is, so nothing goes there that did not pass `addresses_of`.

Arrays that begin at a cache line: instructions that read 64 bytes are slower across two.
"""

import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from elmo.errors import ConfigError
from elmo.shapes import Shaped

_LINE = 64
_byte: Callable[[Any], ctypes.c_char] = ctypes.c_char.from_buffer


def aligned(shape: int | tuple[int, ...], dtype: DTypeLike) -> Shaped[np.ndarray, "*shape"]:
    """An array of that shape without values."""
    shape = (shape,) if isinstance(shape, int) else shape
    size = math.prod(shape) * np.dtype(dtype).itemsize
    room = np.empty(size + _LINE, np.uint8)
    start = -address(room) % _LINE
    return room[start : start + size].view(dtype).reshape(shape)


def address(array: Shaped[np.ndarray, "..."]) -> int:
    """The address of an array's first value."""
    try:
        return ctypes.addressof(_byte(array))  # four times as fast, for what is contiguous, writable and not empty
    except (TypeError, ValueError, BufferError):
        return array.__array_interface__["data"][0]


Described = tuple[str | None, tuple[int, ...], bool, int]
"""An array's type, shape, whether C can walk through it, and where it begins."""

_NUMPY_TYPES = {np.dtype(name): name for name in ("float32", "int32", "int64", "uint8", "uint32")}
# numpy's flags: C-contiguous and aligned; and writeable.
_READABLE, _WRITABLE = 0x101, 0x501


class Argument(NamedTuple):
    """One array that a C function takes."""

    name: str
    dtype: str
    axes: tuple[tuple[int, str], ...]
    """Of each axis: how many times which size; of none (""): always so many."""

    @property
    def shape(self) -> str:
        """As people read it: (rows, 4*size)."""
        written = (f"{times}*{size}" if times > 1 and size else size or str(times) for times, size in self.axes)
        return f"({', '.join(written)})"


def _axis(written: str) -> tuple[int, str]:
    times, _, size = written.rpartition("*")
    return (int(size), "") if size.isdecimal() else (int(times or 1), size)


def arguments(**written: str) -> tuple[Argument, ...]:
    """All arguments of a function, in its order."""
    split = {name: one.split() for name, one in written.items()}
    return tuple(Argument(name, dtype, tuple(map(_axis, axes))) for name, (dtype, *axes) in split.items())


def of_numpy(array: Any) -> Described:
    """An array that C reads."""
    return _of_numpy(array, _READABLE)


def of_writable_numpy(array: Any) -> Described:
    """An array that C may write to."""
    return _of_numpy(array, _WRITABLE)


def _of_numpy(array: Any, flags: int) -> Described:
    if not isinstance(array, np.ndarray):
        return None, (), False, 0
    is_fit = array.flags.num & flags == flags
    return _NUMPY_TYPES.get(array.dtype), array.shape, is_fit, address(array) if is_fit else 0


def addresses_of(
    function: str,
    wanted: Sequence[Argument],
    given: Sequence[Any],
    sizes: dict[str, int],
    describe: Callable[[Any], Described] = of_writable_numpy,
) -> list[int]:
    """The addresses of a call's arrays. Adds their sizes to those that are known before.

    Raises ConfigError for an array of another type or shape, or one that C can't walk through or write to.
    """
    found = []
    for want, array in zip(wanted, given, strict=True):
        dtype, shape, is_fit, place = describe(array)
        axes = want.axes
        if not (is_fit and dtype == want.dtype and len(shape) == len(axes) and _agree(axes, shape, sizes)):
            raise _unfit(function, want, array, describe(array), sizes)
        found.append(place)
    return found


def _agree(axes: Sequence[tuple[int, str]], shape: tuple[int, ...], sizes: dict[str, int]) -> bool:
    for (times, size), length in zip(axes, shape, strict=True):
        if (sizes.setdefault(size, length // times) if size else 1) * times != length:
            return False
    return True


def _unfit(function: str, want: Argument, array: Any, described: Described, sizes: Mapping[str, int]) -> ConfigError:
    dtype, shape, is_fit, _ = described
    known = ", ".join(f"{size} = {sizes[size]}" for size in dict(want.axes).values() if size in sizes)
    needed = f"{want.dtype} of shape {want.shape}" + (f" with {known}" if known else "")
    if dtype is None and not hasattr(array, "dtype"):
        found, remedy = f"a {type(array).__name__}", "an array"
    elif dtype != want.dtype:
        found, remedy = f"of the type {array.dtype}", f"one of {want.dtype}"
    elif not is_fit:
        found = f"of shape {tuple(shape)} with gaps, steps or a lock against writing in its memory"
        remedy = "a contiguous, writable copy"
    else:
        found, remedy = f"of shape {tuple(shape)}", f"one of shape {want.shape}"
    return ConfigError(
        f"{want.name} is {found}, but {function} of the native library takes {needed}: C would read or write beyond "
        f"it. Pass {remedy}."
    )
