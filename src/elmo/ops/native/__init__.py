"""The library built from the C files here, if it is there: inference, and fused passes of training.

It is built when the package is installed and a C compiler is at hand. Every function has a version in torch or numpy
that runs where it isn't, and that its tests compare it with. Nothing here needs torch: `elmo.engine` computes without.
ELMO_NATIVE=0 switches the library off; ELMO_INSTRUCTIONS limits the instruction sets it uses (avx512, avxvnni, avx2 or
sse; neonbf16, neondot or neon), to test what other processors run.
"""

import ctypes
import functools
import os
import warnings
from pathlib import Path

from elmo.errors import ConfigError
from elmo.ops.native.build import source_hash, sources

LIBRARY = Path(__file__).with_name("_native.so")
_INTEGER, _FLOAT, _POINTER = ctypes.c_int64, ctypes.c_float, ctypes.c_void_p
_SIGNATURES = {
    **{f"elmo_gates_forward_{kind}": [_INTEGER] * 2 + [_FLOAT] + [_POINTER] * 6 for kind in ("f32", "bf16")},
    **{f"elmo_gates_backward_{kind}": [_INTEGER] * 2 + [_FLOAT] + [_POINTER] * 8 for kind in ("f32", "bf16")},
    **{f"elmo_sampled_softmax_{kind}": [_INTEGER] * 2 + [_FLOAT] + [_POINTER] * 6 for kind in ("f32", "bf16")},
    "elmo_highway_forward": [_INTEGER] * 2 + [_POINTER] * 7,
    "elmo_highway_backward": [_INTEGER] * 2 + [_POINTER] * 7,
    "elmo_max_over_positions": [_INTEGER] * 3 + [_POINTER] * 3,
    "elmo_max_over_positions_backward": [_INTEGER] * 5 + [_POINTER] * 6,
    "elmo_limit_instructions": [ctypes.c_char_p],
    "elmo_instructions": [],
    "elmo_source_hash": [],
    "elmo_fused_kinds": [],
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
_INTEGERS = (
    "encode_work_bytes",
    "peak_operations",
    "fused_kinds",
    "fused_lstm_work_bytes",
    "product_work_bytes",
    "limit_instructions",
)
_RESULTS = {
    **{f"elmo_{name}": _INTEGER for name in _INTEGERS},
    **dict.fromkeys(("elmo_instructions", "elmo_source_hash"), ctypes.c_char_p),
}


_OUTDATED = (
    f"{LIBRARY} was built from other sources than those beside it, so it is left aside, and numpy and torch compute "
    f"instead, slower. Build it again: python {LIBRARY.with_name('build.py')}"
)


@functools.cache
def library() -> ctypes.CDLL | None:
    """The loaded library; None if it wasn't built, doesn't load here or isn't wanted.

    One that was built from other sources than those beside it is left aside with a warning: it may expect other
    arguments.
    """
    if os.environ.get("ELMO_NATIVE") == "0" or not LIBRARY.is_file():
        return None
    try:
        loaded = ctypes.CDLL(str(LIBRARY))
    except OSError:
        return None
    if _is_outdated(loaded):
        warnings.warn(_OUTDATED, RuntimeWarning, stacklevel=2)
        return None
    for name, arguments in _SIGNATURES.items():
        function = getattr(loaded, name)
        function.argtypes, function.restype = arguments, _RESULTS.get(name)
    _limit(loaded, os.environ.get("ELMO_INSTRUCTIONS", "all"))
    return loaded


def _is_outdated(loaded: ctypes.CDLL) -> bool:
    """Whether the sources are here and are not those that the library was built from."""
    if not sources():
        return False
    try:
        found = loaded.elmo_source_hash
    except AttributeError:
        return True
    found.argtypes, found.restype = [], ctypes.c_char_p
    return found().decode() != source_hash()


def _limit(loaded: ctypes.CDLL, name: str) -> None:
    if loaded.elmo_limit_instructions(name.lower().encode()) != 0:
        raise ConfigError(
            f"ELMO_INSTRUCTIONS is {name!r}, which names no instruction set. Set it to one of all, avx512, avx512base, "
            "avxvnni, avx2, sse (x86), neonbf16, neondot, neon (ARM), none, or unset it."
        )


def instructions() -> str | None:
    """The instruction sets that the library uses here, such as "AVX-512, BF16, VNNI"; None without the library."""
    loaded = library()
    return loaded.elmo_instructions().decode() if loaded is not None else None


def native_kinds() -> int:
    """For which factors there are products and fused layers here, added up: 1 float32, 2 bfloat16, 4 int8."""
    loaded = library()
    return loaded.elmo_fused_kinds() if loaded is not None else 0
