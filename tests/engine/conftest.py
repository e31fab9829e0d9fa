"""Every backend that this processor can run: each set of instructions of the native library, and numpy."""

import os
from collections.abc import Iterator

import pytest
from tests.conftest import native_library

from elmo.ops import native
from elmo.ops.native.kinds import native_types

SETS = ("all", "avx512", "avx512base", "avxvnni", "avx2", "neondot", "neon")


def instruction_sets() -> list[str]:
    """Names that limit the library to another set each, and leave it something to compute with."""
    if (library := native.library()) is None:
        return []
    found: dict[str | None, str] = {}
    for name in SETS:
        if library.limit(name) and native_types():
            found.setdefault(native.instructions(), name)
    library.limit(os.environ.get("ELMO_INSTRUCTIONS", "all"))
    return list(found.values())


@pytest.fixture(params=[*instruction_sets(), "numpy"])
def backend(request) -> Iterator[str]:
    """The name of a set of instructions, or "numpy": without the library."""
    is_numpy = request.param == "numpy"
    with native_library(**{"ELMO_NATIVE": "0"} if is_numpy else {"ELMO_INSTRUCTIONS": request.param}):
        yield request.param


@pytest.fixture(params=["float32", "bfloat16", "int8"])
def dtype(request, backend) -> str:
    """Each type of factors that the backend has."""
    if backend != "numpy" and request.param not in native_types():
        pytest.skip(f"no {request.param} products with {backend}")
    return request.param
