"""ELMoForManyLangs folders -> Checkpoint.

    config.json          of the training; only `config_path`, the architecture file's name, matters
    char.dic  word.dic   symbol<TAB>id, UTF-8: see `tokens`
    token_embedder.pkl   PyTorch state dicts, which `elmo.weights.pickle` reads as data
    encoder.pkl

Source: HIT-SCIR/ELMoForManyLangs `elmo.py`, `frontend.py`, `modules/`; Che et al. 2018. The quirks:

- ids count from 0 there; here every id moves up by 1, because 0 means no token, and each embedding gets a zero row 0;
- a highway's rows are [nonlinear, gate] with y = g x + (1 - g) relu(..), so that our gate is the negative of theirs;
- LSTMs are AllenNLP's: gates are i, f, j, o, and the forget bias is in the bias already.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path, PureWindowsPath
from typing import Any

import numpy as np

from elmo.config import BiLMConfig
from elmo.disk.bounded import is_file
from elmo.disk.json_file import read_json
from elmo.errors import ConfigError, WeightFileError
from elmo.weights.allennlp.names import with_padding_row
from elmo.weights.allennlp.state_dict import lstm_shapes, lstm_tensors
from elmo.weights.checkpoint import Checkpoint, read_hashed
from elmo.weights.many_langs.tokens import GET_AGAIN, read_token_map
from elmo.weights.pickle import read_state_dict
from elmo.weights.shapes import Shape, require_agreement
from elmo.weights.soundness import require_finite

PICKLES = ("token_embedder.pkl", "encoder.pkl")
WORDS, CHARACTERS = "word_emb_layer.embedding.weight", "char_emb_layer.embedding.weight"


def embedder_shapes(config: BiLMConfig) -> Iterator[tuple[str, Shape]]:
    """Name and shape of every tensor that token_embedder.pkl of such a model holds."""
    if config.has_words:
        yield WORDS, (config.num_words - 1, config.word_dim)
    if config.has_characters:
        yield CHARACTERS, (config.num_characters - 1, config.character_dim)
        for i, (width, count) in enumerate(config.filters):
            yield f"convolutions.{i}.weight", (count, config.character_dim, width)
            yield f"convolutions.{i}.bias", (count,)
        for k in range(config.num_highway):
            yield f"highways._layers.{k}.weight", (2 * config.num_filters, config.num_filters)
            yield f"highways._layers.{k}.bias", (2 * config.num_filters,)
    yield "projection.weight", (config.projection_size, config.token_features)
    yield "projection.bias", (config.projection_size,)


def embedder_tensors(theirs: Mapping[str, np.ndarray], config: BiLMConfig) -> dict[str, np.ndarray]:
    """The token encoder's tensors here, from those of token_embedder.pkl."""
    ours = {"projection.weight": theirs["projection.weight"], "projection.bias": theirs["projection.bias"]}
    if config.has_words:
        ours["word_embedding"] = with_padding_row(theirs[WORDS])
    if config.has_characters:
        ours["character_embedding"] = with_padding_row(theirs[CHARACTERS])
        ours |= {name: array for name, array in theirs.items() if name.startswith("convolutions.")}
        for k in range(config.num_highway):
            for part in ("weight", "bias"):
                nonlinear, gate = np.split(theirs[f"highways._layers.{k}.{part}"], 2)
                ours[f"highways.{k}.transform.{part}"] = nonlinear
                ours[f"highways.{k}.gate.{part}"] = -gate
    return {f"token_encoder.{name}": np.ascontiguousarray(array) for name, array in ours.items()}


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


def recognizes(path: Path) -> bool:
    """Whether `path` is an ELMoForManyLangs folder: both pickles are in it."""
    return all((Path(path) / name).is_file() for name in PICKLES)


def read(path: Path) -> Checkpoint:
    """The model in the folder `path`.

    An architecture file that is missing from the folder (it is from the published archives) is replaced by the
    published architecture, which the shapes must then agree with. Raises WeightFileError.
    """
    folder = Path(path)
    described = architecture_file(folder)
    beside = [folder / name for name in ("config.json", "char.dic", "word.dic")]
    files = [
        *([] if described is None else [described]),
        *filter(is_file, beside),
        *(folder / name for name in PICKLES),
    ]
    return read_hashed(files, lambda: _read(folder, described))


def _read(folder: Path, described: Path | None) -> Checkpoint:
    architecture = PUBLISHED_ARCHITECTURE if described is None else read_json(described)
    asked_by = "the published architecture" if described is None else str(described)
    embedder, encoder = (_state_dict(folder / name) for name in PICKLES)
    config = config_of(architecture, _rows(embedder, CHARACTERS), _rows(embedder, WORDS), asked_by)
    for name, state, expected in zip(PICKLES, (embedder, encoder), (embedder_shapes, lstm_shapes), strict=True):
        shapes = {key: array.shape for key, array in state.items()}
        require_agreement(shapes, expected(config), file=str(folder / name), asked_by=asked_by, kind="tensor")
    return Checkpoint(
        config=config,
        tensors={**embedder_tensors(embedder, config), **lstm_tensors(encoder, config)},
        token_map=read_token_map(folder, config),
        source_format="many_langs",
        metadata={"architecture": asked_by} if described is None else {},
    )


def _state_dict(path: Path) -> dict[str, np.ndarray]:
    state = {name: array.astype(np.float32, copy=False) for name, array in read_state_dict(path).items()}
    require_finite(state, str(path), "tensor")
    return state


def _rows(embedder: Mapping[str, np.ndarray], name: str) -> int:
    """Rows of an embedding with ours prepended; its other sizes are checked later, with everything else."""
    array = embedder.get(name)
    return 1 + (len(array) if array is not None and array.ndim else 0)
