"""config.json of a model folder <-> the architecture and the facts about a model."""

from dataclasses import Field, fields
from pathlib import Path
from typing import Any

from elmo.config import BiLMConfig
from elmo.disk.bounded import is_there, shown
from elmo.disk.json_file import read_json
from elmo.errors import ConfigError, WeightFileError
from elmo.weights.checkpoint import Checkpoint

FORMAT_VERSION = 1
_CONFIG_KEYS = ("format_version", "architecture", "source_format", "source_hash", "metadata")


def facts_of(checkpoint: Checkpoint) -> dict[str, Any]:
    """What config.json says of a checkpoint."""
    values = (
        FORMAT_VERSION,
        checkpoint.config.to_dict(),
        checkpoint.source_format,
        checkpoint.source_hash,
        checkpoint.metadata,
    )
    return dict(zip(_CONFIG_KEYS, values, strict=True))


def read_facts(path: Path) -> dict[str, Any]:
    """The facts in config.json, of the right keys and types. Raises WeightFileError."""
    if not path.is_file():
        problem = "is no file" if is_there(path) else "is missing"
        raise WeightFileError(
            f"{path}: {problem}, so its folder is no model folder. Pass a folder that 'elmo convert' or a pretraining "
            "run wrote."
        )
    facts = read_json(path)
    version = facts.get("format_version")
    if type(version) is int and version > FORMAT_VERSION:
        raise WeightFileError(
            f"{path}: has format_version {version}, this elmo reads up to {FORMAT_VERSION}: a newer elmo wrote it. "
            "Upgrade with: pip install --upgrade pyelmo"
        )
    if version != FORMAT_VERSION or type(version) is not int:
        raise WeightFileError(
            f"{path}: format_version is {shown(version)}, but must be {FORMAT_VERSION}: the file is damaged or no "
            "config of this package. Get the model again."
        )
    for key in _CONFIG_KEYS:
        if key not in facts:
            raise WeightFileError(f"{path}: key {key!r} is missing: the file is damaged. Get the model again.")
    if unknown := sorted(set(facts) - set(_CONFIG_KEYS)):
        raise WeightFileError(
            f"{path}: unknown key {shown(unknown[0])}; the keys are {', '.join(_CONFIG_KEYS)}. Facts of your own "
            "belong under 'metadata'."
        )
    strings = [facts["source_format"], facts["source_hash"]]
    strings += list(facts["metadata"].values()) if isinstance(facts["metadata"], dict) else [None]
    if not all(isinstance(value, str) for value in strings):
        raise WeightFileError(
            f"{path}: source_format, source_hash and every value under metadata must be text. Put them in quotes."
        )
    return facts


def architecture_of(values: Any, path: Path) -> BiLMConfig:
    """The config, whose values must have the types they were written with: JSON's 2.0 is no number of layers."""
    if not isinstance(values, dict):
        raise WeightFileError(f"{path}: 'architecture' is {shown(values)}, not an object. Get the model again.")
    for setting in fields(BiLMConfig):
        if setting.name in values and not _has_type(values[setting.name], setting):
            raise WeightFileError(
                f"{path}: {setting.name!r} is {shown(values[setting.name])}, which has the wrong type: the file is "
                f"damaged. A valid value would be {setting.default!r}."
            )
    try:
        return BiLMConfig.from_dict(values, source=str(path))
    except ConfigError as error:
        raise WeightFileError(f"{error} Get the model again.") from None


def _has_type(value: Any, setting: Field) -> bool:
    default = setting.default
    if isinstance(default, tuple):  # the filters
        return isinstance(value, list) and all(
            isinstance(pair, list) and len(pair) == 2 and all(type(number) is int for number in pair) for pair in value
        )
    if isinstance(default, float):
        may_be_off = setting.name in ("cell_clip", "projection_clip")
        return type(value) in (int, float) or (value is None and may_be_off)
    return type(value) is type(default)
