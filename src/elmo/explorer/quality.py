"""How often a model is right, from `quality.json` in its folder: what the page says beside its lists.

The figures were measured by `runs/model_quality.py`. They belong to the weights whose hash the file names; beside other
weights they are not shown.
"""

import json
from pathlib import Path

import msgspec

from elmo.disk.bounded import read_bytes

QUALITY_FILE = "quality.json"
_BYTES = 1 << 16


class SenseNeighbors(msgspec.Struct):
    """How often the nearest occurrence of a word, in another document, has the same sense. In percent."""

    layers: list[float]
    mean: float
    """By the mean of the layers."""
    chance: float
    """An occurrence drawn at random."""
    most_frequent: float
    """Always the word's most frequent sense."""
    words: int
    occurrences: int
    data: str


class GapWords(msgspec.Struct):
    """How often the word that stands in a place is the first, or one of the first ten, that is expected. In percent."""

    first: dict[str, float]
    """By direction: forward, backward, both."""
    first_ten: dict[str, float]
    places: int
    data: str


class Quality(msgspec.Struct):
    """What was measured; null: nothing."""

    model_hash: str
    senses: SenseNeighbors | None = None
    gap: GapWords | None = None
    note: dict[str, str] | None = None
    """What else to know of this model, by the language of the page ("en", "ko"); written by hand."""


def quality_of(folder: Path, model_hash: str) -> Quality | None:
    """The figures in a model's folder, if there are any for these weights."""
    try:
        found = msgspec.convert(json.loads(read_bytes(folder / QUALITY_FILE, limit=_BYTES)), Quality)
    except (OSError, ValueError, msgspec.ValidationError):  # no figures are better than wrong ones
        return None
    return found if found.model_hash == model_hash else None
