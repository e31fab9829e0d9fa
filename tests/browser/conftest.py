"""What tests of elmo.js start from."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.browser.in_node import run
from tests.chromium import required


@pytest.fixture(scope="session")
def javascript() -> Callable[..., Any]:
    """`in_node.run` of some code, with keywords as what is given to it."""
    node = required("node")
    return lambda code, **given: run(node, code, given)
