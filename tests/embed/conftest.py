"""A tiny embedder, a text file, and threads at once."""

import itertools
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from elmo.embed.corpus.embed_corpus import embed_corpus
from elmo.embed.embedder import Embedder
from elmo.embed.storage.layout import files_of, format_of
from elmo.errors import Interrupted

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


@pytest.fixture
def require_equal() -> Callable[[Path, Path], None]:
    """Fails unless two files of vectors are the same to the byte, and so are the files beside them."""

    def require(one: Path, other: Path) -> None:
        for first, second in zip(files_of(one, format_of(one)), files_of(other, format_of(other)), strict=True):
            assert first.read_bytes() == second.read_bytes(), first.name

    return require


@pytest.fixture
def interrupt() -> Callable[..., None]:
    """(windows, arguments of `embed_corpus`): runs it and asks it to stop when so many windows are done."""

    def run(windows: int, *arguments: Any, **settings: Any) -> None:
        calls = itertools.count()  # the first is made while the text is counted
        with pytest.raises(Interrupted, match=r"interrupted after row \d+ of \d+.*--resume"):
            embed_corpus(*arguments, **settings, stop_asked=lambda: next(calls) > windows)

    return run


@pytest.fixture
def run_at_once() -> Iterator[Callable[[Callable[[int], None], int], None]]:
    """Runs `work(0)` ... `work(count - 1)` at the same time, taking turns every few microseconds; raises what one of
    them raised."""

    def run(work: Callable[[int], None], count: int) -> None:
        barrier = threading.Barrier(count)

        def begun_together(number: int) -> None:
            barrier.wait()
            work(number)

        with ThreadPoolExecutor(count) as threads:
            list(threads.map(begun_together, range(count)))

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield run
    sys.setswitchinterval(before)
