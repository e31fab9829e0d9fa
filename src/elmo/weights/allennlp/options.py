"""options.json of AllenNLP and bilm-tf <-> BiLMConfig. Source: bilm-tf `bin/train_elmo.py`, `bilm/model.py`.

The options are not complete: whether there is a token projection, how many words there are and which directions were
trained shows only in the weight file.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from elmo.config import NUM_BYTE_CHARACTERS, BiLMConfig, filter_pairs
from elmo.disk.bounded import understood
from elmo.errors import WeightFileError
from elmo.setting_checks import Must, require_value
from elmo.weights.shapes import Shape

# 261 while bilm-tf trains and dumps, 262 for inference: the file always has 261 rows, row 0 is added at loading.
_NumCharacters = Literal[261, 262] | None
# What bilm-tf trains with where a training's options don't say. Beside weights, the network would silently be another
# one; AllenNLP asks for them too.
_IN_TRAINING = {"use_skip_connections": False, "cell_clip": None, "proj_clip": None}
# 0 is no clip. Any other outside of this range clips everything, or nothing.
_Clip = Annotated[float, Must("a number from 0.001 to 1e+06", lambda it: it == 0 or 1e-3 <= it <= 1e6)] | None
_PASS = "Pass the options.json that came with the weights, or add what is missing (a clip: null for none)."


def config_of(
    options: Mapping[str, Any], shapes: Mapping[str, Shape], *, path: Path, in_training: bool = False
) -> BiLMConfig:
    """The architecture. `shapes`: the datasets of the weight file; `path`: the options' file, for errors.

    `in_training`: the options are those of a training with bilm-tf, whose clips and skip connections may be absent.
    """
    with understood(path, WeightFileError, _PASS):
        lstm = (_IN_TRAINING if in_training else {}) | _value(options, "lstm", dict)
        projection_size, cell_size = _value(lstm, "lstm.projection_dim", int), _value(lstm, "lstm.dim", int)
        settings: dict[str, Any] = {
            "projection_size": projection_size,
            "cell_size": cell_size,
            "num_layers": _value(lstm, "lstm.n_layers", int, 1),
            "cell_clip": _value(lstm, "lstm.cell_clip", _Clip) or None,
            # Without a projection, TensorFlow's cell clips no output.
            "projection_clip": _value(lstm, "lstm.proj_clip", _Clip) or None if projection_size < cell_size else None,
            "skip_connections": _value(lstm, "lstm.use_skip_connections", bool),
            "direction": "forward" if any(name.startswith("rnn/") for name in shapes) else "both",
        }
        if options.get("char_cnn") is None:
            rows = (shapes.get("embedding") or (1,))[0]
            settings |= {"characters": "none", "num_words": rows + 1, "word_dim": projection_size}
            settings |= {"token_projection": False}
        else:
            settings |= _character_settings(_value(options, "char_cnn", dict), shapes, projection_size)
        return BiLMConfig(**settings)


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
    section: Mapping[str, Any], shapes: Mapping[str, Shape], projection_size: int
) -> dict[str, Any]:
    _value(section, "char_cnn.n_characters", _NumCharacters, None)
    filters = filter_pairs(_value(section, "char_cnn.filters"))
    # bilm-tf builds no projection where it would not change the width; AllenNLP always has one.
    projected = sum(count for _, count in filters) != projection_size or "CNN_proj/W_proj" in shapes
    return {
        "characters": "bytes",
        "character_dim": _value(_value(section, "char_cnn.embedding", dict), "char_cnn.embedding.dim", int),
        "max_characters_per_token": _value(section, "char_cnn.max_characters_per_token", int),
        "filters": filters,
        "activation": _value(section, "char_cnn.activation"),
        "num_highway": _value(section, "char_cnn.n_highway", int, 0),
        "token_projection": projected,
    }


def _value(section: Mapping[str, Any], name: str, kind: Any = Any, *default: object) -> Any:
    """The setting of a section whose full `name` this is, or its default where it is null or missing. ConfigError if it
    is of another type, KeyError if it is missing and has no default: the vectors could not be known to be the
    model's."""
    key = name.rpartition(".")[2]
    if key not in section and not default:
        raise KeyError(name)
    value = section.get(key)
    value = default[0] if value is None and default else value
    require_value(f"'{name}'", value, kind)
    return value
