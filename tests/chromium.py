"""The system's Chromium: one for all tests of a process, because a second Playwright in a process fails."""

import os
import shutil
from collections.abc import Iterator
from typing import Any, NoReturn

import pytest

NEEDED = "ELMO_NEED_BROWSER"
"""Environment variable: with it, what is missing is a failure (CI), not a reason to skip."""
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def missing(what: str) -> NoReturn:
    """Skips, or fails where nothing may be missing."""
    if os.environ.get(NEEDED):
        pytest.fail(f"{what} is missing, but {NEEDED} is set")
    pytest.skip(f"needs {what}")


def required(program: str) -> str:
    """The path of a program; without it the test is skipped, or fails in CI."""
    return shutil.which(program) or missing(program)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Playwright's browser; each test opens a context of its own."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        missing("Chromium (apt-get install chromium fonts-noto-cjk)")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright (pip install playwright)")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield started
        started.close()
