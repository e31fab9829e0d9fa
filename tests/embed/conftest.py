"""A tiny embedder and a text file."""

from pathlib import Path

import pytest

from elmo.embed.embedder import Embedder

LINES = [
    "the cat sat on the mat .",
    "",
    "a b",
    "the cat sat on the mat .",
    "it / was a file name . with / slashes",
    "   ",
    "책 을 읽 었 다",
    *(f"line {number} of many " + "word " * (number % 7) for number in range(20)),
]


@pytest.fixture
def embedder(tiny_checkpoint) -> Embedder:
    """From zero state."""
    return Embedder(tiny_checkpoint)


@pytest.fixture
def lines() -> list[str]:
    """Text with blank lines, one line twice and slashes."""
    return LINES


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """`lines` as a file."""
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return path
