"""The scripts beside the package: no test runs most of them, so this sees what the package has moved away from them."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted(
    path for folder in ("runs", "benchmarks", "examples", "docs") for path in (ROOT / folder).rglob("*.py")
)


def imported(script: Path) -> Iterator[tuple[str, str]]:
    """Modules of the package and the names that a script imports from them."""
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "elmo":
            yield from ((str(node.module), name.name) for name in node.names)


def is_there(module: str, name: str) -> bool:
    """Whether the package has it, as a value or as a module."""
    try:
        if hasattr(importlib.import_module(module), name):
            return True
        importlib.import_module(f"{module}.{name}")
    except ModuleNotFoundError as error:
        if not str(error.name).startswith("elmo"):
            raise
        return False
    return True


def test_what_the_scripts_import_from_the_package_is_there():
    wanted = {(script, *found) for script in SCRIPTS for found in imported(script)}
    assert len(wanted) > 100
    lost = [
        (str(script.relative_to(ROOT)), module, name) for script, module, name in wanted if not is_there(module, name)
    ]
    assert lost == []
