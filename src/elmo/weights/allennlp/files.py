"""The published format: options.json + weights.hdf5, read by AllenNLP and bilm-tf; both ways.

Source: bilm-tf `bilm/model.py`, `bilm/training.py` (`dump_weights`); AllenNLP `allennlp/modules/elmo.py`. The quirks:
matrices are applied as x W; an LSTM's input and recurrent weights are one matrix, with gate columns in TensorFlow's
order; "carry" and "transform" name what the paper calls gate and transform; embeddings lack the zero row of id 0.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from elmo.config import BiLMConfig
from elmo.disk.atomic import new_file, new_folder
from elmo.disk.json_file import write_json
from elmo.errors import ConfigError, TextError, WeightFileError
from elmo.text.characters import CharacterMap
from elmo.text.token_map import TokenMap, WordMap
from elmo.weights.agreement import Shape, require_agreement
from elmo.weights.allennlp.options import config_of, options_of, read_options, word_settings
from elmo.weights.fingerprint import file_hash
from elmo.weights.gates import OUR_ORDER, to_our_order
from elmo.weights.hdf5 import SIGNATURE, Hdf5File, write_hdf5
from elmo.weights.native.checkpoint import Checkpoint, native_shapes, require_sound
from elmo.weights.native.word_list import read_word_list, write_word_list

OPTIONS_FILE = "options.json"
WEIGHTS_FILE = "weights.hdf5"
SOFTMAX_FILE = "softmax.hdf5"
VOCABULARY_FILE = "vocab.txt"

_UNKNOWN_WORD = "<UNK>"
# Input, candidate, forget, output.
_GATE_ORDER = "ijfo"
_SOFTMAX_DATASETS = {"weight": "softmax/W", "bias": "softmax/b"}


class Plain:
    """A dataset that is the tensor."""

    def shape(self, *tensors: Shape) -> Shape:
        """The dataset's shape from those of its tensors."""
        return tensors[0]

    def to_tensors(self, array: np.ndarray) -> tuple[np.ndarray, ...]:
        """The tensors in a dataset."""
        return (array,)

    def to_array(self, *tensors: np.ndarray) -> np.ndarray:
        """The dataset of some tensors."""
        return tensors[0]


class Transposed(Plain):
    """A matrix applied as x W in the file, as W x here."""

    def shape(self, *tensors: Shape) -> Shape:
        return tensors[0][::-1]

    def to_tensors(self, array: np.ndarray) -> tuple[np.ndarray, ...]:
        return (array.T,)

    def to_array(self, *tensors: np.ndarray) -> np.ndarray:
        return tensors[0].T


class WithoutPaddingRow(Plain):
    """An embedding: the zero row of id 0 is only here."""

    def shape(self, *tensors: Shape) -> Shape:
        return (tensors[0][0] - 1, tensors[0][1])

    def to_tensors(self, array: np.ndarray) -> tuple[np.ndarray, ...]:
        return (with_padding_row(array),)

    def to_array(self, *tensors: np.ndarray) -> np.ndarray:
        return tensors[0][1:]


class Convolution(Plain):
    """(1, width, dim, number) in the file, (number, dim, width) here."""

    def shape(self, *tensors: Shape) -> Shape:
        return (1, *tensors[0][::-1])

    def to_tensors(self, array: np.ndarray) -> tuple[np.ndarray, ...]:
        return (array[0].transpose(2, 1, 0),)

    def to_array(self, *tensors: np.ndarray) -> np.ndarray:
        return tensors[0].transpose(2, 1, 0)[None]


class Gates(Plain):
    """A bias of four gates: input, candidate, forget, output in the file; input, forget, output, candidate here."""

    def to_tensors(self, array: np.ndarray) -> tuple[np.ndarray, ...]:
        return (to_our_order(array, _GATE_ORDER),)

    def to_array(self, *tensors: np.ndarray) -> np.ndarray:
        return _to_file_order(tensors[0])


class GateKernel(Plain):
    """Input above recurrent weights, applied as [x, h] W, gates in the columns; two matrices here."""

    def shape(self, *tensors: Shape) -> Shape:
        return (tensors[0][1] + tensors[1][1], tensors[0][0])

    def to_tensors(self, array: np.ndarray) -> tuple[np.ndarray, ...]:
        rows = to_our_order(array.T, _GATE_ORDER)
        # Both inputs have the width of a projection.
        return (rows[:, : rows.shape[1] // 2], rows[:, rows.shape[1] // 2 :])

    def to_array(self, *tensors: np.ndarray) -> np.ndarray:
        return _to_file_order(np.concatenate(tensors, axis=1)).T


def _to_file_order(rows: np.ndarray) -> np.ndarray:
    blocks = dict(zip(OUR_ORDER, np.split(rows, 4), strict=True))
    return np.concatenate([blocks[gate] for gate in _GATE_ORDER])


def with_padding_row(array: np.ndarray) -> np.ndarray:
    """An embedding with the zero row of id 0 in front."""
    return np.concatenate([np.zeros_like(array[:1]), array], axis=0)


@dataclass(frozen=True)
class Entry:
    """One line of the name table: a dataset, the tensors in it, and how they lie there."""

    dataset: str
    tensors: tuple[str, ...]
    layout: Plain


@dataclass(frozen=True)
class LstmNames:
    """How the LSTM's datasets are called.

    bilm-tf's `dump_weights` takes the names from the graph's scopes, which differ for a model of one direction or of
    one layer; neither bilm-tf nor AllenNLP reads such files (bilm-tf issues 181 and 218).
    """

    both_directions: bool = True
    layers_numbered: bool = True

    def dataset(self, direction: int, layer: int, part: str) -> str:
        """The full name of `part`: "W_0", "B" or "W_P_0"."""
        cell = f"MultiRNNCell/Cell{layer}/LSTMCell" if self.layers_numbered else "LSTMCell"
        if self.both_directions:
            return f"RNN_{direction}/RNN/{cell}/{part}"
        return f"rnn/{cell}/{({'W_0': 'kernel', 'B': 'bias', 'W_P_0': 'projection/kernel'})[part]}"

    @classmethod
    def found_in(cls, shapes: Mapping[str, Shape], config: BiLMConfig) -> "LstmNames":
        """The names a file uses."""
        both = config.direction == "both"
        one_layer = cls(both, layers_numbered=False)
        numbered = config.num_layers > 1 or one_layer.dataset(0, 0, "W_0") not in shapes
        return cls(both, layers_numbered=numbered)


def name_table(config: BiLMConfig, names: LstmNames | None = None) -> Iterator[Entry]:
    """Every dataset of a model's weight file."""
    yield from _token_encoder_table(config)
    for direction, word in enumerate(config.directions):
        for layer in range(config.num_layers):
            yield from _lstm_table(names or LstmNames(), direction, layer, f"{word}_lstm.layers.{layer}", config)


def _token_encoder_table(config: BiLMConfig) -> Iterator[Entry]:
    encoder = "token_encoder"
    if config.has_words:
        yield Entry("embedding", (f"{encoder}.word_embedding",), WithoutPaddingRow())
    if config.has_characters:
        yield Entry("char_embed", (f"{encoder}.character_embedding",), WithoutPaddingRow())
        for index in range(len(config.filters)):
            yield Entry(f"CNN/W_cnn_{index}", (f"{encoder}.convolutions.{index}.weight",), Convolution())
            yield Entry(f"CNN/b_cnn_{index}", (f"{encoder}.convolutions.{index}.bias",), Plain())
        for index in range(config.num_highway):
            highway = f"{encoder}.highways.{index}"
            # bilm-tf calls the gate "carry", though it multiplies the transformed branch.
            yield Entry(f"CNN_high_{index}/W_carry", (f"{highway}.gate.weight",), Transposed())
            yield Entry(f"CNN_high_{index}/b_carry", (f"{highway}.gate.bias",), Plain())
            yield Entry(f"CNN_high_{index}/W_transform", (f"{highway}.transform.weight",), Transposed())
            yield Entry(f"CNN_high_{index}/b_transform", (f"{highway}.transform.bias",), Plain())
    if config.token_projection:
        yield Entry("CNN_proj/W_proj", (f"{encoder}.projection.weight",), Transposed())
        yield Entry("CNN_proj/b_proj", (f"{encoder}.projection.bias",), Plain())


def _lstm_table(names: LstmNames, direction: int, layer: int, prefix: str, config: BiLMConfig) -> Iterator[Entry]:
    weights = (f"{prefix}.input_weight", f"{prefix}.recurrent_weight")
    yield Entry(names.dataset(direction, layer, "W_0"), weights, GateKernel())
    yield Entry(names.dataset(direction, layer, "B"), (f"{prefix}.bias",), Gates())
    if config.has_lstm_projection:
        yield Entry(names.dataset(direction, layer, "W_P_0"), (f"{prefix}.projection_weight",), Transposed())


def read(
    options: Path,
    weights: Path,
    *,
    vocabulary: Path | None = None,
    token_embeddings: Path | None = None,
    softmax: Path | None = None,
) -> Checkpoint:
    """A model from its options and weights.

    `vocabulary`: one word a line; the words of the softmax's rows, and of the vectors' if the model reads words.
    A model without `char_cnn` in its options reads words and needs it. `token_embeddings`: an HDF5 file with dataset
    `embedding` (lines of the vocabulary, projection_size), token vectors made beforehand: they replace the char CNN.
    `softmax`: an HDF5 file with `softmax/W` (vocabulary, projection_size) and `softmax/b` (vocabulary,).

    Raises WeightFileError (a file is missing, damaged or from another model), TextError (the vocabulary).
    """
    options, weights = Path(options), Path(weights)
    _refuse_swapped(options, weights)
    settings = read_options(options)
    words = None if vocabulary is None else read_word_list(Path(vocabulary))
    with Hdf5File(weights) as file:
        config = config_of(settings, file.shapes, path=options)
        tensors = _read_tensors(file, config, options)
    if token_embeddings is not None:
        config, tensors = _with_word_vectors(config, tensors, Path(token_embeddings))
    token_map = token_map_of(config, words, vocabulary, token_embeddings or weights)
    extras = [Path(path) for path in (vocabulary, token_embeddings, softmax) if path is not None]
    return Checkpoint(
        config,
        tensors,
        token_map,
        vocabulary=words,
        softmax=None if softmax is None else _read_softmax(Path(softmax), config, words),
        source_format="allennlp",
        source_hash=file_hash([options, weights, *extras]),
    )


def write(checkpoint: Checkpoint, folder: Path, *, force: bool = False) -> None:
    """Writes options.json and weights.hdf5, and vocab.txt and softmax.hdf5 if the checkpoint has them.

    The folder appears whole or not at all. Raises ConfigError if the format can't hold the model, WeightFileError if
    the checkpoint contradicts itself, OutputError if the folder exists (without `force`) or the disk is full.
    """
    _require_expressible(checkpoint)
    require_sound(checkpoint)
    arrays = {
        entry.dataset: entry.layout.to_array(*(checkpoint.tensors[name] for name in entry.tensors))
        for entry in name_table(checkpoint.config)
    }
    softmax = checkpoint.softmax or {}
    size = sum(array.nbytes for array in [*arrays.values(), *softmax.values()])
    files = frozenset((OPTIONS_FILE, WEIGHTS_FILE, SOFTMAX_FILE, VOCABULARY_FILE))
    with new_folder(Path(folder), size=size, force=force, replaceable=files) as unfinished:
        write_json(unfinished / OPTIONS_FILE, options_of(checkpoint.config))
        write_hdf5(unfinished / WEIGHTS_FILE, arrays)
        if (words := _rows_of(checkpoint)) is not None:
            write_word_list(unfinished / VOCABULARY_FILE, words)
        if softmax:
            write_hdf5(unfinished / SOFTMAX_FILE, {_SOFTMAX_DATASETS[name]: softmax[name] for name in softmax})


def write_token_embeddings(path: Path, vectors: np.ndarray, *, force: bool = False) -> None:
    """Writes token vectors made beforehand, (lines of the vocabulary, projection_size), as bilm-tf reads them.

    The row of a line is the token vector of its word; there is no row for id 0. Raises OutputError.
    """
    with new_file(Path(path), size=vectors.nbytes, force=force) as unfinished:
        write_hdf5(unfinished, {"embedding": vectors})


def _refuse_swapped(options: Path, weights: Path) -> None:
    for path, what in ((options, "options"), (weights, "weights")):
        if not path.is_file():
            raise WeightFileError(
                f"{path}: there is no such file of {what}. Pass the {what} file that came with the model."
            )
    with options.open("rb") as first, weights.open("rb") as second:
        swapped = first.read(len(SIGNATURE)) == SIGNATURE != second.read(len(SIGNATURE))
    if swapped:
        raise WeightFileError(
            f"the two files are swapped: {options} was passed as the options and {weights} as the weights, but "
            f"options are JSON and weights are HDF5. Pass ({weights}, {options})."
        )


def _read_tensors(file: Hdf5File, config: BiLMConfig, options: Path) -> dict[str, np.ndarray]:
    names = LstmNames.found_in(file.shapes, config)
    require_agreement(
        file.shapes, dataset_shapes(config, names), file=str(file.path), asked_by=options.name, kind="dataset"
    )
    tensors = {}
    for entry in name_table(config, names):
        arrays = entry.layout.to_tensors(file.array(entry.dataset))
        tensors |= dict(zip(entry.tensors, map(np.ascontiguousarray, arrays), strict=True))
    file.require_fingerprint()
    return tensors


def dataset_shapes(config: BiLMConfig, names: LstmNames) -> Iterator[tuple[str, Shape]]:
    """Name and shape of every dataset, found without making a list of all the model's tensors."""
    pending: dict[str, Shape] = {}
    shapes = native_shapes(config)
    for entry in name_table(config, names):
        for name in entry.tensors:
            while name not in pending:
                found, shape = next(shapes)
                pending[found] = shape
        yield entry.dataset, entry.layout.shape(*(pending[name] for name in entry.tensors))


def _with_word_vectors(
    config: BiLMConfig, tensors: dict[str, np.ndarray], path: Path
) -> tuple[BiLMConfig, dict[str, np.ndarray]]:
    """The model with the char CNN, or the word vectors it has, replaced by those of a file."""
    with Hdf5File(path) as file:
        shape = file.shapes.get("embedding")
        if shape is None or len(shape) != 2 or shape[1] != config.projection_size:
            raise WeightFileError(
                f"{path}: {'has no dataset' if shape is None else f'has shape {shape} for'} 'embedding', but the model "
                f"needs (words, {config.projection_size}): these token vectors belong to another model. Make them "
                "again with this one."
            )
        vectors = file.array("embedding")
        file.require_fingerprint()
    config = replace(config, **word_settings(len(vectors), config.projection_size))
    kept = {name: tensor for name, tensor in tensors.items() if not name.startswith("token_encoder.")}
    return config, {"token_encoder.word_embedding": with_padding_row(vectors), **kept}


def token_map_of(config: BiLMConfig, words: list[str] | None, vocabulary: Path | None, vectors: Path) -> TokenMap:
    """How the model reads tokens: by bytes, or in the words of its vocabulary, which word models can't do without."""
    if config.has_characters:
        return TokenMap(CharacterMap.for_bytes(config.max_characters_per_token))
    if words is None:
        raise WeightFileError(
            f"{vectors}: this model reads words, not characters, but there is no vocabulary that says which word has "
            "which row. Pass vocabulary=, the vocabulary file the model was trained with."
        )
    if len(words) != config.num_words - 1:
        raise WeightFileError(
            f"{vectors}: dataset 'embedding' has {config.num_words - 1} rows, but {vocabulary} has {len(words)} "
            "words: these files belong to different models. Pass the vocabulary the vectors were made with."
        )
    try:
        # A word that occurs twice has its later row.
        ids = {word: row for row, word in enumerate(words, start=1)}
        return TokenMap(None, WordMap(ids, unknown=_UNKNOWN_WORD if _UNKNOWN_WORD in ids else None))
    except TextError as error:
        raise TextError(f"{vocabulary}: {error}") from None


def _read_softmax(path: Path, config: BiLMConfig, words: list[str] | None) -> dict[str, np.ndarray]:
    with Hdf5File(path) as file:
        rows = (file.shapes.get("softmax/W") or (1,))[0]
        expected = [("softmax/W", (rows, config.projection_size)), ("softmax/b", (rows,))]
        require_agreement(file.shapes, expected, file=str(path), asked_by=OPTIONS_FILE, kind="dataset")
        softmax = {name: file.array(dataset) for name, dataset in _SOFTMAX_DATASETS.items()}
        file.require_fingerprint()
    if words is not None and len(words) != rows:
        raise WeightFileError(
            f"{path}: dataset 'softmax/W' has {rows} rows, but the vocabulary has {len(words)} words: these files "
            "belong to different models. Pass the vocabulary the model was trained with."
        )
    return softmax


def _require_expressible(checkpoint: Checkpoint) -> None:
    """Raises ConfigError that says which trait of the model the format has no place for."""
    config = checkpoint.config
    obstacles = {
        "it reads characters of a dictionary, not bytes": config.characters == "dictionary",
        "it reads words beside characters": config.has_words and config.has_characters,
        f"it has only the {config.direction} direction": config.direction != "both",
        "it projects its word vectors": not config.has_characters and config.token_projection,
        f"its forget_bias is {config.forget_bias}, the format's readers always add 1": config.forget_bias != 1,
        "its softmax is adaptive": not set(checkpoint.softmax or {}) <= set(_SOFTMAX_DATASETS),
    }
    if found := [reason for reason, holds in obstacles.items() if holds]:
        raise ConfigError(
            f"this model can't be written as options.json + weights.hdf5: {'; '.join(found)}. AllenNLP and bilm-tf "
            "have no place for that. Keep it in the native format."
        )


def _rows_of(checkpoint: Checkpoint) -> list[str] | None:
    """The words of vocab.txt: of the word vectors' rows if the model reads words, else of the softmax's."""
    word_map = checkpoint.token_map.words
    if word_map is None:
        return checkpoint.vocabulary
    words = checkpoint.vocabulary or sorted(word_map.words, key=lambda word: word_map.words[word])
    if {word: row for row, word in enumerate(words, start=1)} != dict(word_map.words):
        raise ConfigError(
            f"this model can't be written as options.json + weights.hdf5: its {len(word_map.words)} words don't fill "
            f"the {checkpoint.config.num_words - 1} rows of its word vectors in the order of its vocabulary. Keep it "
            "in the native format."
        )
    return words
