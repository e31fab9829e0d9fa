"""The architecture of an ELMoForManyLangs model -> BiLMConfig."""

from collections.abc import Mapping
from pathlib import Path, PureWindowsPath
from typing import Any

from elmo.config import BiLMConfig
from elmo.disk.bounded import is_file
from elmo.disk.json_file import read_json
from elmo.errors import ConfigError, WeightFileError
from elmo.weights.many_langs.tokens import GET_AGAIN

# What every published model was trained with (configs/cnn_50_100_512_4096_sample.json); their archives lack the file.
PUBLISHED_ARCHITECTURE = {
    "encoder": {"name": "elmo", "projection_dim": 512, "cell_clip": 3, "proj_clip": 3, "dim": 4096, "n_layers": 2},
    "token_embedder": {
        "name": "cnn",
        "activation": "relu",
        "filters": [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256], [6, 512], [7, 1024]],
        "n_highway": 2,
        "word_dim": 100,
        "char_dim": 50,
        "max_characters_per_token": 50,
    },
}


def architecture_file(folder: Path) -> Path | None:
    """The file `config_path` of config.json names: under the folder, else in it by its last part; None: not there."""
    if not is_file(folder / "config.json"):
        return None
    named = read_json(folder / "config.json").get("config_path")
    if not isinstance(named, str) or not named:
        return None
    # The author's absolute path, perhaps of another system; nothing outside the folder is read.
    relative = PureWindowsPath(named)
    inside = not relative.is_absolute() and not relative.root and not relative.drive and ".." not in relative.parts
    candidates = [folder.joinpath(*relative.parts)] if inside else []
    candidates.append(folder / relative.name)
    return next((file for file in candidates if is_file(file) and file.name != "config.json"), None)


def config_of(architecture: Mapping[str, Any], num_characters: int, num_words: int, source: str) -> BiLMConfig:
    """The config of an architecture and the rows of both embeddings. Raises WeightFileError that names `source`."""
    try:
        encoder = _section(architecture, "encoder", "elmo", source)
        embedder = _section(architecture, "token_embedder", "cnn", source)
        if encoder["dim"] == encoder["projection_dim"]:
            raise ConfigError(f"dim and projection_dim are both {encoder['dim']}, but dim must be the larger one.")
        return BiLMConfig(
            **_character_settings(embedder, num_characters),
            max_characters_per_token=embedder["max_characters_per_token"],
            num_words=num_words if embedder["word_dim"] > 0 else 0,
            word_dim=max(embedder["word_dim"], 0),
            cell_size=encoder["dim"],
            projection_size=encoder["projection_dim"],
            num_layers=encoder["n_layers"],
            cell_clip=encoder["cell_clip"] or None,
            projection_clip=encoder["proj_clip"] or None,
            forget_bias=0.0,
        )
    except KeyError as error:
        raise WeightFileError(
            f"{source}: key {error} is missing; the network can't be known without it. {GET_AGAIN}"
        ) from None
    except ConfigError as error:
        raise WeightFileError(f"{source}: {error} {GET_AGAIN}") from None
    except (TypeError, ValueError, AttributeError) as error:
        raise WeightFileError(f"{source}: a value has the wrong type ({error}). {GET_AGAIN}") from None


def _section(architecture: Mapping[str, Any], key: str, name: str, source: str) -> Mapping[str, Any]:
    section = architecture[key]
    if section["name"].lower() != name:
        raise WeightFileError(
            f"{source}: {key} is of kind {section['name']!r}; only {name!r} can be read, the kind of every published "
            "model. Train such a model with 'elmo pretrain' instead."
        )
    return section


def _character_settings(embedder: Mapping[str, Any], num_characters: int) -> dict[str, Any]:
    if embedder["char_dim"] <= 0:
        return {"characters": "none"}
    return {
        "characters": "dictionary",
        "num_characters": num_characters,
        "character_dim": embedder["char_dim"],
        "filters": embedder["filters"],
        "activation": embedder["activation"],
        "num_highway": embedder["n_highway"],
    }
