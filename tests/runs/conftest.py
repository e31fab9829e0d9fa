"""The script that a file of tests is about."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def script(request: pytest.FixtureRequest, load_script: Callable[[str], ModuleType]) -> ModuleType:
    """`runs/FOLDER/NAME.py`, of `tests/runs/FOLDER/test_NAME.py`."""
    path = Path(request.path)
    return load_script(f"runs/{path.parent.name}/{path.name.removeprefix('test_')}")
