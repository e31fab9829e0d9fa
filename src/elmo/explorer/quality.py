"""Figures from files that the page shows: how often a model is right, and the mixes of layers that tasks have learned.

`quality.json` in a model's folder was measured by `runs/quality/model_quality.py`. Its figures belong to the weights
whose hash the file has; for other weights they are not shown. The mixes are from the folder of a run of `elmo task
train`.
"""

import json
from pathlib import Path

import msgspec

from elmo.disk.bounded import read_bytes
from elmo.errors import ConfigError

QUALITY_FILE = "quality.json"
_QUALITY_BYTES, _SCORES_BYTES = 1 << 16, 1 << 26


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
    """How often a sentence's own word is the first, or one of the first ten, that the model expects. In percent."""

    first: dict[str, float]
    """By direction: forward, backward, both."""
    first_ten: dict[str, float]
    places: int
    data: str


class Quality(msgspec.Struct):
    """The figures that were measured; null: not measured."""

    model_hash: str
    senses: SenseNeighbors | None = None
    gap: GapWords | None = None
    note: dict[str, str] | None = None
    """A note on this model, written by hand, by the language of the page ("en", "ko")."""


def quality_of(folder: Path, model_hash: str) -> Quality | None:
    """The figures in a model's folder, if there are any for these weights."""
    try:
        found = msgspec.convert(json.loads(read_bytes(folder / QUALITY_FILE, limit=_QUALITY_BYTES)), Quality)
    except (OSError, ValueError, msgspec.ValidationError):  # no figures are better than wrong ones
        return None
    return found if found.model_hash == model_hash else None


class Mix(msgspec.Struct):
    """A weight for each layer, and the name of the run that learned it."""

    name: str
    weights: list[float]


class _LearnedMix(msgspec.Struct):
    weights: list[float]
    gamma: float


class _Outcome(msgspec.Struct):
    mix_weights: list[_LearnedMix] = []


def learned_mixes(run: Path) -> list[Mix]:
    """The mixes of every seed in a run folder. ConfigError if there are none."""
    found: list[Mix] = []
    for path in sorted(run.glob("seed-*/scores.json")):
        try:
            outcome = msgspec.convert(json.loads(read_bytes(path, limit=_SCORES_BYTES)), _Outcome)
        except (OSError, ValueError, msgspec.ValidationError) as error:
            raise ConfigError(f"{path}: is not the outcome of a seed ({error}). Name another run folder.") from None
        for number, mix in enumerate(outcome.mix_weights):
            place = f", mix {number + 1}" if len(outcome.mix_weights) > 1 else ""
            found.append(Mix(f"{run.name}, {path.parent.name}{place}", [round(weight, 4) for weight in mix.weights]))
    if not found:
        raise ConfigError(
            f"{run}: has no learned mixes of layers (seed-*/scores.json with mix_weights). Name the folder that "
            "'elmo task train ... -o RUN' made, of a model with ELMo."
        )
    return found
