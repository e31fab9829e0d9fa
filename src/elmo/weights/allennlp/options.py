"""options.json of AllenNLP and bilm-tf <-> BiLMConfig. Source: bilm-tf `bin/train_elmo.py`, `bilm/model.py`.

The options are not complete: whether there is a token projection, how many words there are and which directions were
trained shows only in the weight file.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elmo.config import NUM_BYTE_CHARACTERS, BiLMConfig
from elmo.disk.bounded import shown
from elmo.disk.json_file import read_json
from elmo.errors import ConfigError, WeightFileError
from elmo.weights.shapes import Shape

# 261 while bilm-tf trains and dumps, 262 for inference: the file always has 261 rows, row 0 is added at loading.
_KNOWN_NUM_CHARACTERS = (NUM_BYTE_CHARACTERS - 1, NUM_BYTE_CHARACTERS)
_WHOLE_NUMBER = "a whole number"
# What bilm-tf and AllenNLP read in each section. Forks of bilm-tf add settings of their training beside the sections,
# where they mean nothing for the network, but not within.
_SECTION_KEYS = {
    "lstm": ("use_skip_connections", "projection_dim", "cell_clip", "proj_clip", "dim", "n_layers"),
    "char_cnn": ("activation", "filters", "n_highway", "embedding", "n_characters", "max_characters_per_token"),
    "char_cnn.embedding": ("dim",),
}
# Without these, the network would silently be another one; AllenNLP asks for them too.
_REQUIRED = ("use_skip_connections", "cell_clip", "proj_clip")
# A clip outside of this range clips everything, or nothing.
_CLIPS = (1e-3, 1e6)


def read_options(path: Path) -> dict[str, Any]:
    """The options, unchanged. Raises WeightFileError if the file isn't an options file."""
    values = read_json(path)
    if not isinstance(values.get("lstm"), dict):
        raise WeightFileError(
            f"{path}: has no section 'lstm' (its keys: {', '.join(map(shown, sorted(values)[:8])) or 'none'}), so it "
            "is not an options file of AllenNLP or bilm-tf. Pass the options.json that came with the weights."
        )
    return values


def config_of(
    options: Mapping[str, Any], shapes: Mapping[str, Shape], *, path: Path, in_training: bool = False
) -> BiLMConfig:
    """The architecture. `shapes`: the datasets of the weight file; `path`: the options' file, for errors.

    `in_training`: the options are those of a training with bilm-tf, whose clips and skip connections may be absent.
    """
    lstm = _Section(options["lstm"], "lstm", path)
    if not in_training:
        lstm.require(_REQUIRED)
    projection_size, cell_size = lstm.integer("projection_dim"), lstm.integer("dim")
    settings: dict[str, Any] = {
        "projection_size": projection_size,
        "cell_size": cell_size,
        "num_layers": lstm.integer("n_layers", 1),
        "cell_clip": lstm.clip("cell_clip"),
        # Without a projection, TensorFlow's cell clips no output.
        "projection_clip": lstm.clip("proj_clip") if projection_size < cell_size else None,
        "skip_connections": lstm.flag("use_skip_connections", False),
        "direction": "forward" if any(name.startswith("rnn/") for name in shapes) else "both",
    }
    if options.get("char_cnn") is None:
        settings |= word_settings((shapes.get("embedding") or (1,))[0], projection_size)
    else:
        settings |= _character_settings(options["char_cnn"], shapes, projection_size, path)
    try:
        return BiLMConfig(**settings)
    except ConfigError as error:
        raise WeightFileError(f"{path}: {error} Pass the options.json that came with the weights.") from None


def options_of(config: BiLMConfig) -> dict[str, Any]:
    """The options AllenNLP and bilm-tf read; the inverse of `config_of` for what they can hold."""
    options: dict[str, Any] = {
        "lstm": {
            "use_skip_connections": config.skip_connections,
            "projection_dim": config.projection_size,
            "cell_clip": config.cell_clip,
            "proj_clip": config.projection_clip,
            "dim": config.cell_size,
            "n_layers": config.num_layers,
        }
    }
    if config.has_characters:
        options["char_cnn"] = {
            "activation": config.activation,
            "filters": [list(pair) for pair in config.filters],
            "n_highway": config.num_highway,
            "embedding": {"dim": config.character_dim},
            "n_characters": NUM_BYTE_CHARACTERS,
            "max_characters_per_token": config.max_characters_per_token,
        }
    return options


def word_settings(rows: int, projection_size: int) -> dict[str, Any]:
    """The settings of a model that reads words; settings of the char CNN, which it lacks, have their defaults."""
    unused = ("num_characters", "character_dim", "max_characters_per_token", "filters", "activation", "num_highway")
    defaults = BiLMConfig()
    return {name: getattr(defaults, name) for name in unused} | {
        "characters": "none",
        "num_words": rows + 1,
        "word_dim": projection_size,
        "token_projection": False,
    }


def _character_settings(
    values: object, shapes: Mapping[str, Shape], projection_size: int, path: Path
) -> dict[str, Any]:
    section = _Section(values, "char_cnn", path)
    section.require_num_characters()
    filters = section.filters()
    # bilm-tf builds no projection where it would not change the width; AllenNLP always has one.
    projected = sum(count for _, count in filters) != projection_size or "CNN_proj/W_proj" in shapes
    return {
        "characters": "bytes",
        "character_dim": _Section(section.values.get("embedding"), "char_cnn.embedding", path).integer("dim"),
        "max_characters_per_token": section.integer("max_characters_per_token"),
        "filters": filters,
        "activation": section.values.get("activation"),
        "num_highway": section.integer("n_highway", 0),
        "token_projection": projected,
    }


class _Section:
    """One object of the options, whose values are checked as they are asked for."""

    def __init__(self, values: object, name: str, path: Path) -> None:
        self.name, self.path = name, path
        if not isinstance(values, dict):
            raise WeightFileError(
                f"{path}: {name!r} must be an object of settings (got {shown(values)}). Pass the options.json "
                "that came with the weights."
            )
        self.values: dict[str, Any] = values
        if unknown := sorted(values.keys() - {*_SECTION_KEYS[name]}):
            raise WeightFileError(
                f"{path}: {name!r} has the key {shown(unknown[0])}, which neither AllenNLP nor bilm-tf knows; the keys "
                f"are {', '.join(_SECTION_KEYS[name])}. Fix it, or pass the options.json that came with the weights."
            )

    def require(self, keys: tuple[str, ...]) -> None:
        """Raises WeightFileError unless the section has all the keys, whatever their values."""
        for key in keys:
            if key not in self.values:
                raise WeightFileError(
                    f"{self.path}: '{self.name}.{key}' is missing, without which the vectors can't be known to be the "
                    "model's. Pass the options.json that came with the weights, or add the key (false, or null for no "
                    "clip)."
                )

    def integer(self, key: str, default: int | None = None) -> int:
        value = self.values.get(key)
        value = default if value is None else value
        if type(value) is not int:
            raise self._wrong(key, _WHOLE_NUMBER)
        return value

    def flag(self, key: str, default: bool) -> bool:
        value = self.values.get(key, default)
        if type(value) is not bool:
            raise self._wrong(key, "true or false")
        return value

    def clip(self, key: str) -> float | None:
        value = self.values.get(key)
        if value is not None and type(value) not in (int, float):
            raise self._wrong(key, "a number, or null for no clip")
        if not value:
            return None
        if not _CLIPS[0] <= value <= _CLIPS[1]:
            raise self._wrong(key, f"a number from {_CLIPS[0]} to {_CLIPS[1]:g}, or null for no clip")
        return float(value)

    def filters(self) -> tuple[tuple[int, int], ...]:
        pairs = self.values.get("filters")
        if not isinstance(pairs, list) or not all(map(_is_pair, pairs)):
            raise self._wrong("filters", "a list of [width, number] pairs")
        return tuple((width, count) for width, count in pairs)

    def require_num_characters(self) -> None:
        value = self.values.get("n_characters")
        if value is not None and (type(value) is not int or value not in _KNOWN_NUM_CHARACTERS):
            raise self._wrong("n_characters", f"{' or '.join(map(str, _KNOWN_NUM_CHARACTERS))}, the byte alphabet")

    def _wrong(self, key: str, expected: str) -> WeightFileError:
        found = repr(self.values[key])[:60] if key in self.values else "nothing"
        return WeightFileError(
            f"{self.path}: '{self.name}.{key}' must be {expected} (got {found}). Pass the options.json that came "
            "with the weights."
        )


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(number) is int for number in value)
