"""Mixes of the layers that tasks have learned, from the folder of a run of `elmo task train`."""

import json
from pathlib import Path

import msgspec

from elmo.disk.bounded import read_bytes
from elmo.errors import ConfigError

_BYTES = 1 << 26


class Mix(msgspec.Struct):
    """A weight for each layer, with the name of where it was learned."""

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
            outcome = msgspec.convert(json.loads(read_bytes(path, limit=_BYTES)), _Outcome)
        except (OSError, ValueError, msgspec.ValidationError) as error:
            raise ConfigError(f"{path}: is not the outcome of a seed ({error}). Name another run folder.") from None
        for number, mix in enumerate(outcome.mix_weights):
            place = f", mix {number + 1}" if len(outcome.mix_weights) > 1 else ""
            found.append(Mix(f"{run.name}, {path.parent.name}{place}", [round(weight, 4) for weight in mix.weights]))
    if not found:
        raise ConfigError(
            f"{run}: holds no learned mixes of layers (seed-*/scores.json with mix_weights). Name the folder that "
            "'elmo task train ... -o RUN' made, of a model with ELMo."
        )
    return found
