"""The library built from the C files here, if it is there: inference, and fused passes of training.

It is built when the package is installed and a C compiler is at hand. Every function has a version in torch or numpy
that runs where it isn't, and that its tests compare it with. Nothing here needs torch: `elmo.engine` computes without.
ELMO_NATIVE=0 switches the library off; ELMO_INSTRUCTIONS limits the instruction sets it uses (amx, avx512, avxvnni,
avx2 or sse; neonbf16, neondot or neon), to test what other processors run.

    arguments           how a function's arguments are written down, and the check of a call against that
    library             the library itself, whose functions are private to this folder, and the passes of training
    structures          a weight in panels, as C reads it, and its products
    lstm                layers, and what they read
    character_encoder   the characters' part of the token encoder
"""

import functools
import os
import warnings
from pathlib import Path

from elmo.errors import ConfigError
from elmo.ops.native.build import source_hash, sources
from elmo.ops.native.library import Library

LIBRARY = Path(__file__).with_name("_native.so")

_OUTDATED = (
    f"{LIBRARY} was built from other sources than those beside it, so it is left aside, and numpy and torch compute "
    f"instead, slower. Build it again: python {LIBRARY.with_name('build.py')}"
)


def is_switched_off() -> bool:
    """Whether ELMO_NATIVE is 0."""
    return os.environ.get("ELMO_NATIVE") == "0"


@functools.cache
def library() -> Library | None:
    """The loaded library; None if it wasn't built, doesn't load here or isn't wanted.

    One that was built from other sources than those beside it is left aside with a warning: it may expect other
    arguments.
    """
    if is_switched_off() or not LIBRARY.is_file():
        return None
    try:
        loaded = Library(LIBRARY)
    except OSError:
        return None
    if sources() and loaded.source_hash() != source_hash():
        warnings.warn(_OUTDATED, RuntimeWarning, stacklevel=2)
        return None
    loaded.declare()
    name = os.environ.get("ELMO_INSTRUCTIONS") or "all"
    if not loaded.limit(name):
        raise ConfigError(
            f"ELMO_INSTRUCTIONS is {name!r}, which names no instruction set. Set it to one of all, amx, avx512, "
            "avx512base, avxvnni, avx2, sse (x86), neonbf16, neondot, neon (ARM), none, or unset it."
        )
    return loaded


def required_library() -> Library:
    """`library`, for data laid out for it. Raises ConfigError without it."""
    loaded = library()
    if loaded is None:
        raise ConfigError(
            "the native library is needed here, but it isn't built, doesn't load or is switched off by ELMO_NATIVE=0. "
            "Run `elmo doctor` to see why; without it numpy and torch compute."
        )
    return loaded


def instructions() -> str | None:
    """The instruction sets that the library uses here, such as "AVX-512, BF16, VNNI"; None without the library."""
    loaded = library()
    return loaded.instructions() if loaded is not None else None
