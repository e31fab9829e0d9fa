"""The text that is measured with, if the command names no other, and its first sentences."""

import lzma
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

from record import ROOT

DATA = ROOT.parent / "shared" / "data"
TEXT = DATA / "lm-en" / "test.txt.xz"


def first_sentences(path: Path, count: int) -> list[list[str]]:
    """Of a tokenized text, one sentence a line, .xz or plain; empty lines don't count."""
    opener: Callable[..., Any] = lzma.open if path.suffix == ".xz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        found = (line.split() for line in lines)
        return list(islice((sentence for sentence in found if sentence), count))
