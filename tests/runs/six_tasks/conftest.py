"""The scripts beside the package, as modules."""

import importlib.util
from collections.abc import Iterator
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


@pytest.fixture(scope="session")
def unseen_words() -> Iterator[ModuleType]:
    """What splits the examples by their words; it imports the queue as a script does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(SCRIPTS)
        yield _module("unseen_words")


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
