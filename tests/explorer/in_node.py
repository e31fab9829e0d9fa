"""The page's modules in node, and what they give beside what Python gives."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.chromium import required


def node(program: Path | str, given: object) -> object:
    """What a program of node prints as JSON; a string is the source of a module."""
    found = required("node")
    what = [str(program)] if isinstance(program, Path) else ["--input-type=module", "-e", program]
    done = subprocess.run([found, *what], input=json.dumps(given), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def require_equal(found: object, expected: object, place: str = "", **near: float) -> None:
    """Equal but for numbers, which may differ by rounding: `near` are the bounds of pytest.approx."""
    if isinstance(expected, dict):
        assert isinstance(found, dict) and list(found) == list(expected), place
        for name, value in expected.items():
            require_equal(found[name], value, f"{place}.{name}", **near)
    elif isinstance(expected, list):
        assert isinstance(found, list) and len(found) == len(expected), place
        for number, (one, other) in enumerate(zip(found, expected, strict=True)):
            require_equal(one, other, f"{place}[{number}]", **near)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, **near), place
    else:
        assert found == expected, place
