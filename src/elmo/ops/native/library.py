"""The loaded library. Its functions are called in this folder alone, by what checks their arguments first.

A pass of training has a version in C for each combination of types in the table `PASSES` and no other. "factor" is the
type of the factors of matrix products: float32 in one version, bfloat16 in the other.
"""

import ctypes
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from elmo.errors import ConfigError
from elmo.ops.native.arguments import Argument, Described, addresses_of, arguments, of_numpy

_FACTORS = {"float32": "_f32", "bfloat16": "_bf16"}


class Version(NamedTuple):
    """One function of the library: it takes sizes, which follow from the arrays, then numbers, then the arrays."""

    name: str
    sizes: tuple[str, ...]
    numbers: tuple[str, ...]
    arguments: tuple[Argument, ...]


Versions = Mapping[tuple[str, ...], Version]
"""Of one pass, by the types of its arguments."""


def _pass(name: str, sizes: str, numbers: str = "", /, **written: str) -> tuple[str, Versions]:
    taken = arguments(**written)
    is_one = all(argument.dtype != "factor" for argument in taken)
    versions = {}
    for factor, suffix in {"": ""}.items() if is_one else _FACTORS.items():
        typed = tuple(one._replace(dtype=factor) if one.dtype == "factor" else one for one in taken)
        version = Version(f"elmo_{name}{suffix}", tuple(sizes.split()), tuple(numbers.split()), typed)
        versions[tuple(one.dtype for one in typed)] = version
    return name, versions


# Shapes and meaning: training/*.h.
PASSES: Mapping[str, Versions] = dict([
    _pass(
        "gates_forward", "rows size", "clip",
        share="factor rows 4*size", recurrent="factor rows 4*size", bias="float32 4*size", before="float32 rows size",
        gates="float32 rows 4*size", after="float32 rows size", squashed="float32 rows size",
        output="factor rows size",
    ),
    _pass(
        "gates_backward", "rows size", "clip",
        gates="float32 rows 4*size", before="float32 rows size", after="float32 rows size",
        squashed="float32 rows size", grad_output="factor rows size", grad_cell="float32 rows size",
        grad_gates="factor rows 4*size", grad_bias="float32 4*size",
    ),
    _pass(
        "sampled_softmax", "rows negatives", "scale",
        logits="factor rows negatives", shift="float32 negatives", hit="int64 rows", target="float32 rows",
        nats="float32 rows", grad_shift="float32 negatives", scratch="float32 negatives",
    ),
    _pass(
        "max_over_positions", "types positions filters",
        scores="float32 types positions filters", best="float32 types filters", place="int32 types filters",
    ),
    _pass(
        "max_over_positions_backward", "types row_size dim span filters",
        vectors="float32 types row_size", kernel="float32 filters span", place="int32 types filters",
        grad="float32 types filters", grad_vectors="float32 types row_size", grad_kernel="float32 filters span",
    ),
])  # fmt: skip


_INTEGER, _FLOAT, _POINTER = ctypes.c_int64, ctypes.c_float, ctypes.c_void_p
_SIGNATURES = {
    **{
        version.name: [
            *[_INTEGER] * len(version.sizes),
            *[_FLOAT] * len(version.numbers),
            *[_POINTER] * len(version.arguments),
        ]
        for versions in PASSES.values()
        for version in versions.values()
    },
    "elmo_limit_instructions": [ctypes.c_char_p],
    "elmo_instructions": [],
    "elmo_source_hash": [],
    "elmo_fused_kinds": [],
    "elmo_multiplies_bfloat16": [],
    "elmo_is_intel": [],
    "elmo_fused_lstm_work_bytes": [_POINTER] * 2,
    "elmo_fused_lstm": [_INTEGER] + [_POINTER] * 2,
    "elmo_leave": [_POINTER, _INTEGER],
    "elmo_product_work_bytes": [_POINTER],
    "elmo_encode_work_bytes": [_POINTER],
    "elmo_encode_tokens": [_INTEGER, _POINTER, _POINTER, _INTEGER, _POINTER, _POINTER],
    "elmo_peak": [_INTEGER] * 2,
    "elmo_peak_operations": [_INTEGER],
    "elmo_read": [_INTEGER, _POINTER],
    "elmo_product": [_INTEGER] + [_POINTER] * 3 + [_INTEGER] * 4 + [_POINTER] * 2,
}
_TEXTS = ("elmo_instructions", "elmo_source_hash")
_NOTHING = ("elmo_leave", "elmo_peak", "elmo_read")
_READ_AT_ONCE = 256  # bytes
_BYTES = arguments(array=f"uint8 {_READ_AT_ONCE}*blocks")
_ARRIVALS = arguments(arrivals="int32 team 16")


class Library:
    """The calls without structures; `structures`, `lstm` and `character_encoder` have the others. Raises OSError."""

    def __init__(self, path: Path) -> None:
        self.functions = ctypes.CDLL(str(path))
        """For this folder alone."""

    def declare(self) -> None:
        """Declares what each function takes. Not before the library is known to be built from these sources."""
        for name, taken in _SIGNATURES.items():
            function = getattr(self.functions, name)
            function.argtypes = taken
            function.restype = ctypes.c_char_p if name in _TEXTS else None if name in _NOTHING else _INTEGER

    def source_hash(self) -> str | None:
        """Of the sources it was built from; None: of a library without it."""
        try:
            found = self.functions.elmo_source_hash
        except AttributeError:
            return None
        found.argtypes, found.restype = [], ctypes.c_char_p
        return found().decode()

    def limit(self, name: str) -> bool:
        """Lets it use no instruction sets beyond `name`. False: an unknown name."""
        return self.functions.elmo_limit_instructions(os.fsencode(name.lower())) == 0

    def instructions(self) -> str:
        """The instruction sets that it uses."""
        return self.functions.elmo_instructions().decode()

    def kinds(self) -> int:
        """For which factors there are products and layers, added up: 1 float32, 2 bfloat16, 4 int8."""
        return self.functions.elmo_fused_kinds()

    def multiplies_bfloat16(self) -> bool:
        """Whether bfloat16 factors are multiplied as they are, and faster than float32's; else they are widened."""
        return bool(self.functions.elmo_multiplies_bfloat16())

    def is_intel(self) -> bool:
        """Whether Intel made the processor."""
        return bool(self.functions.elmo_is_intel())

    def run_version(
        self,
        version: Version,
        arrays: Sequence[Any],
        numbers: Sequence[float],
        describe: Callable[[Any], Described],
        sizes: dict[str, int],
    ) -> None:
        """Calls a pass with arrays that fit together. `sizes`: those that follow from no array; the others are added.

        Raises ConfigError for arrays that don't fit, and for values that lead out of another array.
        """
        addresses = addresses_of(version.name, version.arguments, arrays, sizes, describe)
        function = getattr(self.functions, version.name)
        if wrong := function(*map(sizes.__getitem__, version.sizes), *numbers, *addresses):
            name = version.arguments[wrong - 1].name
            raise ConfigError(
                f"{name} leads out of the other arrays that {version.name} of the native library takes, of the sizes "
                f"{sizes}: C would read or write beyond them. Pass the {name} that was made for these arrays."
            )

    def peak(self, kind: int, rounds: int) -> None:
        """Nothing but products, on registers."""
        self.functions.elmo_peak(kind, rounds)

    def peak_operations(self, kind: int) -> int:
        """Multiplications and additions of one round of `peak`."""
        return self.functions.elmo_peak_operations(kind)

    def read(self, array: np.ndarray) -> None:
        """Reads all bytes of an array, a multiple of 256 of them."""
        sizes: dict[str, int] = {}
        (place,) = addresses_of("elmo_read", _BYTES, [array], sizes, of_numpy)
        self.functions.elmo_read(_READ_AT_ONCE * sizes["blocks"], place)

    def leave(self, arrivals: np.ndarray, rank: int) -> None:
        """No thread of a team waits any more for this one."""
        sizes: dict[str, int] = {}
        (place,) = addresses_of("elmo_leave", _ARRIVALS, [arrivals], sizes)
        require_member(rank, sizes["team"])
        self.functions.elmo_leave(place, rank)


def require_member(rank: int, team: int) -> None:
    """Raises ConfigError for a thread that its team doesn't have."""
    if not 0 <= rank < team:
        raise ConfigError(f"rank is {rank}, but the threads of this team are 0 to {team - 1}. Pass one of them.")
