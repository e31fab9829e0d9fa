"""Checkpoint: a model as data, and our own folder format.

config.json            architecture, format version, where the weights came from and the hash of that source
model.safetensors      every tensor by its name in `BiLM.state_dict()`
vocab.txt              the words the language model predicts, one a line, in the order of the softmax rows
tokens.json            only if the model reads more than bytes: its character dictionary and its word list
softmax.safetensors    optional: `weight` (vocabulary, projection_size), `bias` (vocabulary,)
warm_state.safetensors optional: the fixed state that `state="warm"` starts from
README.md              model card
"""

from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any, get_args

import numpy as np

from elmo.config import BiLMConfig
from elmo.disk.atomic import new_folder
from elmo.disk.json_file import read_json, write_json
from elmo.errors import ConfigError, WeightFileError
from elmo.text.characters import CharacterMap
from elmo.text.token_map import TokenMap
from elmo.weights.agreement import Shape, require_agreement
from elmo.weights.fingerprint import fingerprint
from elmo.weights.native.tensor_file import StoredType, read_tensors, require_finite, write_tensors
from elmo.weights.native.word_list import read_word_list, write_word_list

FORMAT_VERSION = 1

CONFIG_FILE = "config.json"
MODEL_FILE = "model.safetensors"
VOCABULARY_FILE = "vocab.txt"
TOKENS_FILE = "tokens.json"
SOFTMAX_FILE = "softmax.safetensors"
WARM_STATE_FILE = "warm_state.safetensors"
CARD_FILE = "README.md"
MODEL_FOLDER_FILES = frozenset(
    (CONFIG_FILE, MODEL_FILE, VOCABULARY_FILE, TOKENS_FILE, SOFTMAX_FILE, WARM_STATE_FILE, CARD_FILE)
)

_CONFIG_KEYS = ("format_version", "architecture", "source_format", "source_hash", "metadata")
_MAX_TOKENS_BYTES = 1 << 30


@dataclass(frozen=True)
class Checkpoint:
    """One model, read from any format."""

    config: BiLMConfig
    tensors: dict[str, np.ndarray]
    """Every tensor of the network by its name in `BiLM.state_dict()`, float32."""
    token_map: TokenMap
    vocabulary: list[str] | None = None
    """The words the language model predicts, in the order of the softmax rows."""
    softmax: dict[str, np.ndarray] | None = None
    """`weight` (vocabulary, projection_size) and `bias` (vocabulary,), shared by both directions.

    An adaptive softmax: these have a row for each frequent word and then for each cluster, and the softmax within
    cluster i is `clusters.{i}.projection` (width, projection_size), `.weight` (words, width) and `.bias` (words,).
    """
    warm_state: dict[str, np.ndarray] | None = None
    """The state that `state="warm"` starts from."""
    source_format: str = "native"
    """native | allennlp | tensorflow | many_langs"""
    source_hash: str = ""
    """SHA-256 over the source files' bytes."""
    metadata: dict[str, str] = field(default_factory=dict)
    """Free text for people: training data, perplexity, licence."""


def expected_shapes(config: BiLMConfig) -> dict[str, Shape]:
    """Name and shape of every tensor of a model."""
    return dict(native_shapes(config))


def native_shapes(config: BiLMConfig) -> Iterator[tuple[str, Shape]]:
    """The items of `expected_shapes`, made as they are asked for."""
    yield from _token_encoder_shapes(config)
    for direction in config.directions:
        for layer in range(config.num_layers):
            yield from _lstm_shapes(f"{direction}_lstm.layers.{layer}", config)


def _token_encoder_shapes(config: BiLMConfig) -> Iterator[tuple[str, Shape]]:
    encoder, features = "token_encoder", config.num_filters
    if config.has_characters:
        yield f"{encoder}.character_embedding", (config.num_characters, config.character_dim)
        for index, (width, count) in enumerate(config.filters):
            yield f"{encoder}.convolutions.{index}.weight", (count, config.character_dim, width)
            yield f"{encoder}.convolutions.{index}.bias", (count,)
        for index in range(config.num_highway):
            for branch in ("transform", "gate"):
                yield f"{encoder}.highways.{index}.{branch}.weight", (features, features)
                yield f"{encoder}.highways.{index}.{branch}.bias", (features,)
    if config.has_words:
        yield f"{encoder}.word_embedding", (config.num_words, config.word_dim)
    if config.token_projection:
        yield f"{encoder}.projection.weight", (config.projection_size, config.token_features)
        yield f"{encoder}.projection.bias", (config.projection_size,)


def _lstm_shapes(prefix: str, config: BiLMConfig) -> Iterator[tuple[str, Shape]]:
    gates = 4 * config.cell_size
    yield f"{prefix}.input_weight", (gates, config.projection_size)
    yield f"{prefix}.recurrent_weight", (gates, config.projection_size)
    yield f"{prefix}.bias", (gates,)
    if config.has_lstm_projection:
        yield f"{prefix}.projection_weight", (config.projection_size, config.cell_size)


def content_hash(checkpoint: Checkpoint) -> str:
    """SHA-256 (hexadecimal) over the network's tensors: names, shapes, bytes. Equal for equal weights of any format."""
    return fingerprint(checkpoint.tensors)


def write(checkpoint: Checkpoint, folder: Path, *, dtype: StoredType = "float32", force: bool = False) -> None:
    """Writes the model folder; it appears whole or not at all.

    `dtype`: how the network's and the softmax's tensors are stored; they are float32 again when read. bfloat16 and int8
    are for computing in that type, which then changes nothing: int8 are the LSTMs' matrices, bfloat16 in both the token
    encoder's matrices and the softmax, float32 all else. With `force` an
    existing model folder is replaced. Raises OutputError (the folder exists, the disk is full), WeightFileError (the
    checkpoint contradicts itself), ConfigError (float16 can't hold a value), TextError (a word fits no line).
    """
    if dtype not in get_args(StoredType):
        raise ConfigError(f"dtype is {dtype!r}, but weights are stored as: {', '.join(get_args(StoredType))}.")
    require_sound(checkpoint)
    parts = {MODEL_FILE: checkpoint.tensors, SOFTMAX_FILE: checkpoint.softmax, WARM_STATE_FILE: checkpoint.warm_state}
    size = sum(tensor.nbytes for tensors in parts.values() if tensors for tensor in tensors.values())
    size = size if dtype == "float32" else size // 2  # at most
    with new_folder(Path(folder), size=size, force=force, replaceable=MODEL_FOLDER_FILES) as unfinished:
        write_json(unfinished / CONFIG_FILE, _facts(checkpoint))
        for name, tensors in parts.items():
            if tensors is not None:
                types = {key: _stored_type(name, key, dtype) for key in tensors}
                write_tensors(unfinished / name, tensors, types=types)
        if checkpoint.vocabulary is not None:
            write_word_list(unfinished / VOCABULARY_FILE, checkpoint.vocabulary)
        if checkpoint.token_map != _byte_map(checkpoint.config):
            write_json(unfinished / TOKENS_FILE, checkpoint.token_map.to_dict(), indent=None)


def _stored_type(file: str, name: str, dtype: StoredType) -> StoredType:
    """What a tensor of a model stored as `dtype` is stored as."""
    if dtype == "float32" or file == WARM_STATE_FILE:
        return "float32"
    if dtype == "float16":
        return dtype
    if file == SOFTMAX_FILE:
        return "bfloat16" if name.endswith(("weight", "projection")) else "float32"
    if not name.endswith("weight"):  # biases and embeddings, which are no factors of products
        return "float32"
    return dtype if "_lstm." in name else "bfloat16"


def read(folder: Path) -> Checkpoint:
    """Reads a model folder. Raises WeightFileError, or TextError for its vocab.txt; both name the file."""
    folder = Path(folder)
    facts = _read_facts(folder / CONFIG_FILE)
    config = _architecture(facts["architecture"], folder / CONFIG_FILE)
    tensors = read_tensors(folder / MODEL_FILE, lambda _: native_shapes(config), asked_by=CONFIG_FILE)
    vocabulary = folder / VOCABULARY_FILE
    softmax, warm_state = folder / SOFTMAX_FILE, folder / WARM_STATE_FILE
    checkpoint = Checkpoint(
        config,
        tensors,
        _read_token_map(folder / TOKENS_FILE, config),
        read_word_list(vocabulary) if vocabulary.exists() else None,
        read_tensors(softmax, lambda found: _softmax_shapes(found, config), asked_by=CONFIG_FILE)
        if softmax.exists()
        else None,
        read_tensors(warm_state, dict.items, asked_by=CONFIG_FILE) if warm_state.exists() else None,
        facts["source_format"],
        facts["source_hash"],
        facts["metadata"],
    )
    require_sound(checkpoint, source=str(folder))
    return checkpoint


def require_sound(checkpoint: Checkpoint, source: str = "the checkpoint") -> None:
    """Raises WeightFileError unless names, shapes, types and values of all parts fit the config and each other."""
    config = checkpoint.config
    parts = [("tensors", checkpoint.tensors), ("softmax", checkpoint.softmax), ("warm state", checkpoint.warm_state)]
    for what, tensors in parts:
        for name, tensor in (tensors or {}).items():
            if not isinstance(tensor, np.ndarray) or tensor.dtype != np.float32:
                raise WeightFileError(
                    f"{source}: {name!r} of its {what} is {getattr(tensor, 'dtype', type(tensor).__name__)}, but must "
                    "be a float32 array. Convert it with .astype('float32')."
                )
        require_finite(tensors or {}, source, "tensor")
    found = {name: tensor.shape for name, tensor in checkpoint.tensors.items()}
    require_agreement(found, native_shapes(config), file=source, asked_by=CONFIG_FILE, kind="tensor")
    for name in ("character_embedding", "word_embedding"):
        tensor = checkpoint.tensors.get(f"token_encoder.{name}")
        if tensor is not None and tensor[0].any():
            raise WeightFileError(
                f"{source}: row 0 of 'token_encoder.{name}' is not zero, but id 0 means that there is no token. "
                "Set the row to zero: nothing else in the model changes."
            )
    _require_sound_softmax(checkpoint, source)
    _require_fitting_map(checkpoint.token_map, config, source)


def _require_sound_softmax(checkpoint: Checkpoint, source: str) -> None:
    if checkpoint.softmax is None:
        return
    found = {name: tensor.shape for name, tensor in checkpoint.softmax.items()}
    shapes = _softmax_shapes(found, checkpoint.config)
    require_agreement(found, shapes, file=f"{source}, softmax", asked_by=CONFIG_FILE, kind="tensor")
    if _num_clusters(found) >= found["bias"][0]:
        raise WeightFileError(
            f"{source}: the softmax has {found['bias'][0]} rows, but {_num_clusters(found)} clusters, each of which "
            "takes one beside those of the frequent words: its parts belong to different models. Get the model again."
        )
    words, rows = checkpoint.vocabulary, _softmax_words(found)
    if words is not None and len(words) != rows:
        raise WeightFileError(
            f"{source}: the softmax has {rows} rows, but the vocabulary has {len(words)} words: they belong to "
            "different models. Pass the vocabulary the softmax was trained with."
        )


def _softmax_shapes(found: Mapping[str, Shape], config: BiLMConfig) -> list[tuple[str, Shape]]:
    """Of a full softmax; with clusters (numbered from 0 on), of an adaptive one: their sizes are its own affair."""
    rows = (found.get("weight") or (1,))[0]
    shapes: list[tuple[str, Shape]] = [("weight", (rows, config.projection_size)), ("bias", (rows,))]
    for index in range(_num_clusters(found)):
        shape = found.get(f"clusters.{index}.weight", ())
        words, width = shape if len(shape) == 2 else (1, 1)
        shapes += [
            (f"clusters.{index}.projection", (width, config.projection_size)),
            (f"clusters.{index}.weight", (words, width)),
            (f"clusters.{index}.bias", (words,)),
        ]
    return shapes


def _num_clusters(found: Mapping[str, Shape]) -> int:
    return len({name.split(".")[1] for name in found if name.startswith("clusters.")})


def _softmax_words(found: Mapping[str, Shape]) -> int:
    """Words of a softmax of sound shapes; each cluster takes a row of the first softmax, which is no word."""
    clusters = range(_num_clusters(found))
    return found["bias"][0] - len(clusters) + sum(found[f"clusters.{index}.bias"][0] for index in clusters)


def _require_fitting_map(token_map: TokenMap, config: BiLMConfig, source: str) -> None:
    characters, words = token_map.characters, token_map.words
    problem = None
    if (characters is not None) != config.has_characters or (words is not None) != config.has_words:
        problem = "the token map and the config don't agree on whether the model reads characters and words"
    elif characters is not None and characters.max_characters_per_token != config.max_characters_per_token:
        problem = f"the token map makes {characters.max_characters_per_token} characters per token"
    elif characters is not None and (characters.dictionary is None) != (config.characters == "bytes"):
        problem = f"the config says characters={config.characters!r}, the token map does not"
    elif characters is not None and not _ids_fit(_character_ids(characters), config.num_characters):
        problem = f"the character map has ids outside 1 to {config.num_characters - 1}"
    elif words is not None and not _ids_fit(words.words.values(), config.num_words):
        problem = f"the word list has ids outside 1 to {config.num_words - 1}"
    if problem:
        raise WeightFileError(f"{source}: {problem}: its parts belong to different models. Get the model again.")


def _character_ids(characters: CharacterMap) -> list[Any]:
    marks = (characters.begin_sentence, characters.end_sentence, characters.begin_word, characters.end_word)
    unknown = [] if characters.dictionary is None else [characters.unknown, *characters.dictionary.values()]
    return [*marks, characters.padding, characters.num_characters - 1, *unknown]


def _ids_fit(ids: Any, rows: int) -> bool:
    return all(type(number) is int and 1 <= number < rows for number in ids)


def _byte_map(config: BiLMConfig) -> TokenMap | None:
    """The token map that needs no file."""
    if config.characters != "bytes" or config.has_words:
        return None
    return TokenMap(CharacterMap.for_bytes(config.max_characters_per_token))


def _read_token_map(path: Path, config: BiLMConfig) -> TokenMap:
    default = _byte_map(config)
    if default is not None and not path.exists():
        return default
    values = read_json(path, limit=_MAX_TOKENS_BYTES)
    try:
        token_map = TokenMap.from_dict(values)
        token_map.ids(token_map.boundary_tokens)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError) as error:
        detail = f"key {error} is missing" if isinstance(error, KeyError) else str(error)
        raise WeightFileError(f"{path}: is no token map ({detail}): it is damaged. Get the model again.") from None
    return token_map


def _facts(checkpoint: Checkpoint) -> dict[str, Any]:
    values = (
        FORMAT_VERSION,
        checkpoint.config.to_dict(),
        checkpoint.source_format,
        checkpoint.source_hash,
        checkpoint.metadata,
    )
    return dict(zip(_CONFIG_KEYS, values, strict=True))


def _read_facts(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise WeightFileError(
            f"{path}: is missing, so its folder is no model folder. Pass a folder that 'elmo convert' or a pretraining "
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
            f"{path}: format_version is {version!r}, but must be {FORMAT_VERSION}: the file is damaged or no config of "
            "this package. Get the model again."
        )
    for key in _CONFIG_KEYS:
        if key not in facts:
            raise WeightFileError(f"{path}: key {key!r} is missing: the file is damaged. Get the model again.")
    if unknown := sorted(set(facts) - set(_CONFIG_KEYS)):
        raise WeightFileError(
            f"{path}: unknown key {unknown[0]!r}; the keys are {', '.join(_CONFIG_KEYS)}. Facts of your own belong "
            "under 'metadata'."
        )
    strings = [facts["source_format"], facts["source_hash"]]
    strings += list(facts["metadata"].values()) if isinstance(facts["metadata"], dict) else [None]
    if not all(isinstance(value, str) for value in strings):
        raise WeightFileError(
            f"{path}: source_format, source_hash and every value under metadata must be text. Put them in quotes."
        )
    return facts


def _architecture(values: Any, path: Path) -> BiLMConfig:
    """The config, whose values must have the types they were written with: JSON's 2.0 is no number of layers."""
    if not isinstance(values, dict):
        raise WeightFileError(f"{path}: 'architecture' is {values!r}, not an object. Get the model again.")
    for setting in fields(BiLMConfig):
        if setting.name in values and not _has_type(values[setting.name], setting):
            raise WeightFileError(
                f"{path}: {setting.name!r} is {values[setting.name]!r}, which has the wrong type: the file is damaged. "
                f"A valid value would be {setting.default!r}."
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
