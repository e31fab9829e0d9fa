"""ELMoForManyLangs folders -> Checkpoint.

    config.json          of the training; only `config_path`, the architecture file's name, matters
    char.dic  word.dic   symbol<TAB>id, UTF-8
    token_embedder.pkl   PyTorch state dicts, which torch reads; convert the folder to do without it
    encoder.pkl

Source: HIT-SCIR/ELMoForManyLangs `elmo.py`, `frontend.py`, `modules/`; Che et al. 2018. The quirks:

- ids count from 0 there; here every id moves up by 1, because 0 means no token, and each embedding gets a zero row 0;
- a highway's rows are [nonlinear, gate] with y = g x + (1 - g) relu(..), so that our gate is the negative of theirs;
- LSTMs are AllenNLP's: gates are i, f, j, o, and the forget bias is in the bias already;
- the released code opens a word with `<eow>` and closes it with `<bow>`, in training and in use; a word is cut before
  it is looked up, in both dictionaries; their lines are stripped before they are split.
"""

import codecs
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PureWindowsPath
from typing import Any

import numpy as np

from elmo.config import BiLMConfig
from elmo.disk.bounded import is_file, read_bytes, readable, understood
from elmo.disk.json_file import read_json
from elmo.errors import ConfigError, WeightFileError
from elmo.text.characters import CharacterMap
from elmo.text.token_map import TokenMap, WordMap
from elmo.text.word_list import most_bytes
from elmo.weights.allennlp.names import with_padding_row
from elmo.weights.allennlp.state_dict import lstm_shapes, lstm_tensors
from elmo.weights.checkpoint import Checkpoint, read_hashed
from elmo.weights.pickle import read_state_dict
from elmo.weights.shapes import Shape, require_agreement
from elmo.weights.soundness import finite_float32

BOUNDARY_TOKENS = ("<bos>", "<eos>")
UNKNOWN = "<oov>"
IDEOGRAPHIC_SPACE = "\u3000"
# Ours -> theirs; the words' begin and end are swapped on purpose (see the quirks).
_MARKS = {
    "begin_sentence": "<bos>",
    "end_sentence": "<eos>",
    "begin_word": "<eow>",
    "end_word": "<bow>",
    "padding": "<pad>",
    "unknown": UNKNOWN,
}
GET_AGAIN = "Get the folder again from the model's publisher, all its files together."

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
    with understood(source, WeightFileError, f"The network can't be known. {GET_AGAIN}"):
        encoder = _section(architecture, "encoder", "elmo")
        embedder = _section(architecture, "token_embedder", "cnn")
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


def _section(architecture: Mapping[str, Any], key: str, name: str) -> Mapping[str, Any]:
    section = architecture[key]
    if section["name"].lower() != name:
        raise ConfigError(
            f"{key} is of kind {section['name']!r}, but only {name!r} can be read, the kind of every published model."
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
    """Whether `path` is an ELMoForManyLangs folder, which has both pickles, or one of these."""
    return all((_folder(path) / name).is_file() for name in PICKLES)


def _folder(path: Path) -> Path:
    return path.parent if path.name in PICKLES and path.is_file() else path


def read(path: Path) -> Checkpoint:
    """The model in the folder `path`, or in that of the pickle `path`.

    An architecture file that is missing from the folder (it is from the published archives) is replaced by the
    published architecture, which the shapes must then agree with. Raises WeightFileError.
    """
    folder = _folder(Path(path))
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
    return {name: finite_float32(array, name, str(path), "tensor") for name, array in read_state_dict(path).items()}


def _rows(embedder: Mapping[str, np.ndarray], name: str) -> int:
    """Rows of an embedding with ours prepended; its other sizes are checked later, with everything else."""
    array = embedder.get(name)
    return 1 + (len(array) if array is not None and array.ndim else 0)


def read_token_map(folder: Path, config: BiLMConfig) -> TokenMap:
    """The token map of the folder's model. Raises `WeightFileError` with file and line."""
    limit = config.max_characters_per_token
    characters = words = None
    if config.has_characters:
        path = folder / "char.dic"
        dictionary = _read_dictionary(path, config.num_characters, _MARKS.values())
        marks = {ours: dictionary[theirs] for ours, theirs in _MARKS.items()}
        characters = CharacterMap.for_dictionary(dictionary, marks, limit, BOUNDARY_TOKENS)
        characters = replace(characters, num_characters=config.num_characters)
    if config.has_words:
        dictionary = _read_dictionary(folder / "word.dic", config.num_words, (*BOUNDARY_TOKENS, UNKNOWN))
        words = WordMap(dictionary, UNKNOWN, max_characters=limit - 2, boundary_tokens=BOUNDARY_TOKENS)
    return TokenMap(characters, words)


def _read_dictionary(path: Path, num_ids: int, needed: Iterable[str]) -> dict[str, int]:
    """symbol -> id, moved up by 1, of all rows of an embedding. A symbol that occurs twice has its last id, as in the
    original."""
    with readable(path, WeightFileError, GET_AGAIN):
        content = read_bytes(path, limit=most_bytes(num_ids))
    dictionary, number = {}, 0
    for number, line in enumerate(io.BytesIO(content.removeprefix(codecs.BOM_UTF8)), start=1):
        symbol, theirs = _read_line(line.removesuffix(b"\n"), f"{path}:{number}")
        if not 0 <= theirs < num_ids - 1:
            raise WeightFileError(
                f"{path}:{number}: id {theirs} of {symbol!r} has no row among the {num_ids - 1} in token_embedder.pkl. "
                f"{GET_AGAIN}"
            )
        dictionary[symbol] = theirs + 1
    missing = [symbol for symbol in needed if symbol not in dictionary]
    if missing or number < num_ids - 1:
        without = f" without {missing[0]!r}, which every sentence needs" if missing else ""
        raise WeightFileError(
            f"{path}: has {number} symbols{without}, and the embedding in token_embedder.pkl has {num_ids - 1} rows: "
            f"the file is cut short, or these files belong to different models. {GET_AGAIN}"
        )
    return dictionary


def _read_line(line: bytes, where: str) -> tuple[str, int]:
    try:
        # The original strips before it splits: a symbol of white space vanishes, which then means U+3000.
        fields = line.decode("utf-8").strip().split("\t")
        symbol, number = fields if len(fields) > 1 else (IDEOGRAPHIC_SPACE, fields[0])
        return symbol, int(number)
    except ValueError as error:
        raise WeightFileError(
            f"{where}: is not 'symbol<TAB>id' in UTF-8 ({error}): {line[:40]!r}. {GET_AGAIN}"
        ) from None
