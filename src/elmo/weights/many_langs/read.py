"""ELMoForManyLangs folders -> Checkpoint.

    config.json          of the training; only `config_path`, the architecture file's name, matters
    char.dic  word.dic   symbol<TAB>id, UTF-8
    token_embedder.pkl   PyTorch state dicts, opened by `confined_pickle`
    encoder.pkl

Source: HIT-SCIR/ELMoForManyLangs `elmo.py`, `frontend.py`, `modules/`; Che et al. 2018. Its quirks end here and in
`many_langs_tokens`:

- ids count from 0 there; here every id moves up by 1, because 0 means no token, and each embedding gets a zero row 0;
- a highway's rows are [nonlinear, gate] with y = g x + (1 - g) relu(..), so that our gate is the negative of theirs;
- LSTM gates are i, f, j, o, and the forget bias is in the bias already.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path, PureWindowsPath
from typing import Any

import numpy as np

from elmo.config import BiLMConfig
from elmo.disk.json_file import read_json
from elmo.errors import ConfigError, WeightFileError
from elmo.weights.agreement import Shape, require_agreement
from elmo.weights.allennlp.files import with_padding_row
from elmo.weights.fingerprint import file_hash
from elmo.weights.gates import to_our_order
from elmo.weights.many_langs.tokens import GET_AGAIN, dictionaries, read_token_map
from elmo.weights.native.checkpoint import Checkpoint
from elmo.weights.native.tensor_file import require_finite
from elmo.weights.pickle.confined import read_state_dict

PICKLES = ("token_embedder.pkl", "encoder.pkl")
_WORDS, _CHARACTERS = "word_emb_layer.embedding.weight", "char_emb_layer.embedding.weight"

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


def recognizes(path: Path) -> bool:
    """Whether `path` is an ELMoForManyLangs folder: both pickles are in it."""
    return all((Path(path) / name).is_file() for name in PICKLES)


def read(path: Path) -> Checkpoint:
    """The model in the folder `path`. Its pickles are opened in confined child processes.

    An architecture file that is missing from the folder (it is from the published archives) is replaced by the
    published architecture, which the shapes must then agree with. Raises `WeightFileError`.
    """
    folder = Path(path)
    architecture_file = _architecture_file(folder)
    architecture = PUBLISHED_ARCHITECTURE if architecture_file is None else read_json(architecture_file)
    asked_by = "the published architecture" if architecture_file is None else str(architecture_file)
    embedder, encoder = (_state_dict(folder / name) for name in PICKLES)
    config = _config(architecture, _rows(embedder, _CHARACTERS), _rows(embedder, _WORDS), asked_by)
    for name, state, expected in zip(PICKLES, (embedder, encoder), (_embedder_shapes, _encoder_shapes), strict=True):
        shapes = {key: array.shape for key, array in state.items()}
        require_agreement(shapes, expected(config), file=str(folder / name), asked_by=asked_by, kind="tensor")
    files = [*([] if architecture_file is None else [architecture_file]), *dictionaries(folder, config)]
    return Checkpoint(
        config=config,
        tensors={**_embedder_tensors(embedder, config), **_encoder_tensors(encoder, config)},
        token_map=read_token_map(folder, config),
        source_format="many_langs",
        source_hash=file_hash([*files, *(folder / name for name in PICKLES)]),
        metadata={"architecture": asked_by} if architecture_file is None else {},
    )


def _architecture_file(folder: Path) -> Path | None:
    """The file `config_path` of config.json names: under the folder, else in it by its last part; None: not there."""
    if not (folder / "config.json").is_file():
        return None
    named = read_json(folder / "config.json").get("config_path")
    if not isinstance(named, str) or not named:
        return None
    # The author's absolute path, perhaps of another system; nothing outside the folder is read.
    relative = PureWindowsPath(named)
    inside = not relative.is_absolute() and not relative.root and not relative.drive and ".." not in relative.parts
    candidates = [folder.joinpath(*relative.parts)] if inside else []
    candidates.append(folder / relative.name)
    return next((file for file in candidates if file.is_file() and file.name != "config.json"), None)


def _config(architecture: Mapping[str, Any], num_characters: int, num_words: int, source: str) -> BiLMConfig:
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
            cell_clip=encoder.get("cell_clip") or None,
            projection_clip=encoder.get("proj_clip") or None,
            forget_bias=0.0,
        )
    except KeyError as error:
        raise WeightFileError(
            f"{source}: key {error} is missing; the sizes can't be known without it. {GET_AGAIN}"
        ) from None
    except ConfigError as error:
        raise WeightFileError(f"{source}: {error} {GET_AGAIN}") from None
    except (TypeError, ValueError, AttributeError) as error:
        raise WeightFileError(f"{source}: a value has the wrong type ({error}). {GET_AGAIN}") from None


def _section(architecture: Mapping[str, Any], key: str, name: str, source: str) -> Mapping[str, Any]:
    section = architecture[key]
    if section["name"].lower() != name:
        raise WeightFileError(
            f"{source}: {key} is of kind {section['name']!r}; only {name!r} can be read, which every published model "
            "is. Train such a model with 'elmo pretrain' instead."
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


def _state_dict(path: Path) -> dict[str, np.ndarray]:
    state = {name: array.astype(np.float32, copy=False) for name, array in read_state_dict(path).items()}
    require_finite(state, str(path), "tensor")
    return state


def _rows(embedder: Mapping[str, np.ndarray], name: str) -> int:
    """Rows of an embedding with ours prepended; its other sizes are checked later, with everything else."""
    array = embedder.get(name)
    return 1 + (len(array) if array is not None and array.ndim else 0)


def _embedder_shapes(config: BiLMConfig) -> Iterator[tuple[str, Shape]]:
    if config.has_words:
        yield _WORDS, (config.num_words - 1, config.word_dim)
    if config.has_characters:
        yield _CHARACTERS, (config.num_characters - 1, config.character_dim)
        for i, (width, count) in enumerate(config.filters):
            yield f"convolutions.{i}.weight", (count, config.character_dim, width)
            yield f"convolutions.{i}.bias", (count,)
        for k in range(config.num_highway):
            yield f"highways._layers.{k}.weight", (2 * config.num_filters, config.num_filters)
            yield f"highways._layers.{k}.bias", (2 * config.num_filters,)
    yield "projection.weight", (config.projection_size, config.token_features)
    yield "projection.bias", (config.projection_size,)


def _encoder_shapes(config: BiLMConfig) -> Iterator[tuple[str, Shape]]:
    gates, size = 4 * config.cell_size, config.projection_size
    for layer in range(config.num_layers):
        for direction in config.directions:
            prefix = f"{direction}_layer_{layer}"
            yield f"{prefix}.input_linearity.weight", (gates, size)
            yield f"{prefix}.state_linearity.weight", (gates, size)
            yield f"{prefix}.state_linearity.bias", (gates,)
            yield f"{prefix}.state_projection.weight", (size, config.cell_size)


def _embedder_tensors(theirs: Mapping[str, np.ndarray], config: BiLMConfig) -> dict[str, np.ndarray]:
    ours = {"projection.weight": theirs["projection.weight"], "projection.bias": theirs["projection.bias"]}
    if config.has_words:
        ours["word_embedding"] = with_padding_row(theirs[_WORDS])
    if config.has_characters:
        ours["character_embedding"] = with_padding_row(theirs[_CHARACTERS])
        ours |= {name: array for name, array in theirs.items() if name.startswith("convolutions.")}
        for k in range(config.num_highway):
            for part in ("weight", "bias"):
                nonlinear, gate = np.split(theirs[f"highways._layers.{k}.{part}"], 2)
                ours[f"highways.{k}.transform.{part}"] = nonlinear
                ours[f"highways.{k}.gate.{part}"] = -gate
    return {f"token_encoder.{name}": np.ascontiguousarray(array) for name, array in ours.items()}


def _encoder_tensors(theirs: Mapping[str, np.ndarray], config: BiLMConfig) -> dict[str, np.ndarray]:
    ours = {}
    for direction in config.directions:
        for layer in range(config.num_layers):
            source, target = f"{direction}_layer_{layer}", f"{direction}_lstm.layers.{layer}"
            ours[f"{target}.input_weight"] = to_our_order(theirs[f"{source}.input_linearity.weight"], "ifjo")
            ours[f"{target}.recurrent_weight"] = to_our_order(theirs[f"{source}.state_linearity.weight"], "ifjo")
            ours[f"{target}.bias"] = to_our_order(theirs[f"{source}.state_linearity.bias"], "ifjo")
            ours[f"{target}.projection_weight"] = theirs[f"{source}.state_projection.weight"]
    return ours
