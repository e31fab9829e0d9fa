"""The page's modules in node, and what they give beside what Python gives."""

import json
import subprocess
from pathlib import Path

import numpy as np
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


def require_equal_steps(found: dict, expected: dict) -> None:
    """Of a computation, whose numbers have four digits and whose sums are in another order.

    How many filters have their largest window over a byte may differ by two: of windows that are equal but for
    rounding, either may be the largest.
    """
    np.testing.assert_allclose(found.pop("covered"), expected.pop("covered"), atol=2)
    require_equal(found, expected, rel=1.1e-3, abs=2e-5)
