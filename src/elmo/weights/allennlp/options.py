"""options.json of AllenNLP and bilm-tf <-> BiLMConfig. Source: bilm-tf `bin/train_elmo.py`, `bilm/model.py`.

The options are not complete: whether there is a token projection, how many words there are and which directions were
trained shows only in the weight file.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from elmo.config import NUM_BYTE_CHARACTERS, BiLMConfig, filter_pairs
from elmo.disk.bounded import shown
from elmo.disk.json_file import read_json
from elmo.errors import ConfigError, WeightFileError
from elmo.setting_checks import Must, require_value
from elmo.weights.shapes import Shape

# 261 while bilm-tf trains and dumps, 262 for inference: the file always has 261 rows, row 0 is added at loading.
_NumCharacters = Literal[261, 262] | None
# What bilm-tf and AllenNLP read in each section. Forks of bilm-tf add settings of their training beside the sections,
# where they mean nothing for the network, but not within.
_SECTION_KEYS = {
    "lstm": ("use_skip_connections", "projection_dim", "cell_clip", "proj_clip", "dim", "n_layers"),
    "char_cnn": ("activation", "filters", "n_highway", "embedding", "n_characters", "max_characters_per_token"),
    "char_cnn.embedding": ("dim",),
}
# What bilm-tf trains with where a training's options don't say. Beside weights, the network would silently be another
# one; AllenNLP asks for them too.
_IN_TRAINING = {"use_skip_connections": False, "cell_clip": None, "proj_clip": None}
# 0 is no clip. Any other outside of this range clips everything, or nothing.
_Clip = Annotated[float, Must("a number from 0.001 to 1e+06", lambda it: it == 0 or 1e-3 <= it <= 1e6)] | None
_PASS = "Pass the options.json that came with the weights."


def read_options(path: Path) -> dict[str, Any]:
    """The options, unchanged. Raises WeightFileError if the file isn't an options file."""
    values = read_json(path)
    if not isinstance(values.get("lstm"), dict):
        raise WeightFileError(
            f"{path}: has no section 'lstm' (its keys: {', '.join(map(shown, sorted(values)[:8])) or 'none'}), so it "
            f"is not an options file of AllenNLP or bilm-tf. {_PASS}"
        )
    return values


def config_of(
    options: Mapping[str, Any], shapes: Mapping[str, Shape], *, path: Path, in_training: bool = False
) -> BiLMConfig:
    """The architecture. `shapes`: the datasets of the weight file; `path`: the options' file, for errors.

    `in_training`: the options are those of a training with bilm-tf, whose clips and skip connections may be absent.
    """
    try:
        lstm = _Section((_IN_TRAINING if in_training else {}) | options["lstm"], "lstm", path)
        projection_size, cell_size = lstm.value("projection_dim", int), lstm.value("dim", int)
        settings: dict[str, Any] = {
            "projection_size": projection_size,
            "cell_size": cell_size,
            "num_layers": lstm.value("n_layers", int, 1),
            "cell_clip": lstm.value("cell_clip", _Clip) or None,
            # Without a projection, TensorFlow's cell clips no output.
            "projection_clip": lstm.value("proj_clip", _Clip) or None if projection_size < cell_size else None,
            "skip_connections": lstm.value("use_skip_connections", bool),
            "direction": "forward" if any(name.startswith("rnn/") for name in shapes) else "both",
        }
        if options.get("char_cnn") is None:
            rows = (shapes.get("embedding") or (1,))[0]
            settings |= {"characters": "none", "num_words": rows + 1, "word_dim": projection_size}
            settings |= {"token_projection": False}
        else:
            settings |= _character_settings(options["char_cnn"], shapes, projection_size, path)
        return BiLMConfig(**settings)
    except ConfigError as error:
        raise WeightFileError(f"{path}: {error} {_PASS}") from None


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


def _character_settings(
    values: object, shapes: Mapping[str, Shape], projection_size: int, path: Path
) -> dict[str, Any]:
    section = _Section(values, "char_cnn", path)
    section.value("n_characters", _NumCharacters, None)
    filters = filter_pairs(section.value("filters"))
    # bilm-tf builds no projection where it would not change the width; AllenNLP always has one.
    projected = sum(count for _, count in filters) != projection_size or "CNN_proj/W_proj" in shapes
    return {
        "characters": "bytes",
        "character_dim": _Section(section.value("embedding"), "char_cnn.embedding", path).value("dim", int),
        "max_characters_per_token": section.value("max_characters_per_token", int),
        "filters": filters,
        "activation": section.value("activation"),
        "num_highway": section.value("n_highway", int, 0),
        "token_projection": projected,
    }


class _Section:
    """One object of the options, whose values are checked as they are asked for."""

    def __init__(self, values: object, name: str, path: Path) -> None:
        self.name, self.path = name, path
        if not isinstance(values, dict):
            raise WeightFileError(f"{path}: {name!r} must be an object of settings (got {shown(values)}). {_PASS}")
        self.values: dict[str, Any] = values
        if unknown := sorted(values.keys() - {*_SECTION_KEYS[name]}):
            raise WeightFileError(
                f"{path}: {name!r} has the key {shown(unknown[0])}, which neither AllenNLP nor bilm-tf knows; the keys "
                f"are {', '.join(_SECTION_KEYS[name])}. Fix it, or pass the options.json that came with the weights."
            )

    def value(self, key: str, kind: Any = Any, *default: object) -> Any:
        """A setting, or its default where it is null or missing. ConfigError if it is of another type, WeightFileError
        if it is missing and has no default."""
        if key not in self.values and not default:
            raise WeightFileError(
                f"{self.path}: '{self.name}.{key}' is missing, without which the vectors can't be known to be the "
                "model's. Pass the options.json that came with the weights, or add the key (a clip: null for none)."
            )
        value = self.values.get(key)
        value = default[0] if value is None and default else value
        require_value(f"'{self.name}.{key}'", value, kind)
        return value
