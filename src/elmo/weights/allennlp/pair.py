"""A model given as two paths, as AllenNLP's users do: (options.json, weights.hdf5)."""

from collections.abc import Sequence
from pathlib import Path

from elmo.errors import ConfigError


def pair_of(model: Sequence[str | Path]) -> tuple[Path, Path]:
    """The two paths. Raises ConfigError for another number, and for what is not a path."""
    if len(model) != 2:
        raise ConfigError(
            f"the model was given as {len(model)} files, but must be the pair (options.json, weights.hdf5). Pass these "
            "two paths."
        )
    if not all(isinstance(part, str | Path) for part in model):
        raise ConfigError(
            f"model is {tuple(model)!r}, but a pair is two paths: (options.json, weights.hdf5). Pass these two paths."
        )
    return Path(model[0]), Path(model[1])
