"""The scripts beside the package, as modules."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = Path(__file__).resolve().parents[3] / "runs" / "six_tasks"


@pytest.fixture(scope="session")
def tables() -> ModuleType:
    """The queue."""
    return _module("tables")


@pytest.fixture(scope="session")
def page() -> ModuleType:
    """What writes docs/reproduction.md."""
    return _module("page")


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
