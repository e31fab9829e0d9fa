"""The name table: every dataset of weights.hdf5, the tensors in it, and its layout in the file.

Source: bilm-tf `bilm/training.py` (`dump_weights`), `bilm/model.py`; AllenNLP `allennlp/modules/elmo.py`. The quirks:

- "carry" and "transform" name what the paper calls gate and transform;
- matrices are applied as x W; an LSTM's input and recurrent weights are one matrix;
- gates are in TensorFlow's order: input i, candidate j, forget f, output o. Ours is i, f, o, j, so that the three
  logistic gates are neighbors;
- embeddings lack the zero row of id 0.
"""

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from elmo.config import BiLMConfig
from elmo.errors import ConfigError
from elmo.shapes import Float
from elmo.weights.shapes import Shape, network_shapes

OPTIONS_FILE = "options.json"
WEIGHTS_FILE = "weights.hdf5"
SOFTMAX_FILE = "softmax.hdf5"
VOCABULARY_FILE = "vocab.txt"
SOFTMAX_DATASETS = {"weight": "softmax/W", "bias": "softmax/b"}

# Input i, candidate j, forget f, output o.
_GATE_ORDER = "ijfo"
OUR_ORDER = "ifoj"


def with_padding_row(array: Float[np.ndarray, "ids dim"]) -> Float[np.ndarray, "rows dim"]:
    """An embedding with the zero row of id 0 in front."""
    return np.concatenate([np.zeros_like(array[:1]), array], axis=0)


def _to_file_order(rows: Float[np.ndarray, "gates ..."]) -> Float[np.ndarray, "gates ..."]:
    blocks = dict(zip(OUR_ORDER, np.split(rows, 4), strict=True))
    return np.concatenate([blocks[gate] for gate in _GATE_ORDER])


def to_our_order(rows: Float[np.ndarray, "gates ..."], order: str) -> Float[np.ndarray, "gates ..."]:
    """`rows` (4 * cell_size, ...), in blocks of `order` ("ijfo": TensorFlow, "ifjo": PyTorch), in blocks of ours.

    The result is contiguous row by row, also if `rows` is a transposed view.
    """
    blocks = dict(zip(order, np.split(rows, 4), strict=True))
    return np.concatenate([blocks[gate] for gate in OUR_ORDER], out=np.empty(rows.shape, rows.dtype))


class Layout(NamedTuple):
    """How tensors lie in a dataset."""

    shape: Callable[..., Shape]
    """The dataset's shape from those of its tensors."""
    to_tensor: Callable[[np.ndarray], np.ndarray]
    """A tensor from its part of the dataset, whose rows belong to its tensors in equal parts."""
    to_array: Callable[..., np.ndarray]
    """The dataset of some tensors."""


PLAIN = Layout(lambda shape: shape, lambda part: part, lambda tensor: tensor)
# Applied as x W in the file, as W x here.
TRANSPOSED = Layout(lambda shape: shape[::-1], lambda part: part.T, lambda tensor: tensor.T)
# An embedding: the zero row of id 0 is only here.
WITHOUT_PADDING_ROW = Layout(lambda shape: (shape[0] - 1, shape[1]), with_padding_row, lambda tensor: tensor[1:])
# (1, width, dim, number) in the file, (number, dim, width) here.
CONVOLUTION = Layout(
    lambda shape: (1, *shape[::-1]),
    lambda part: part[0].transpose(2, 1, 0),
    lambda tensor: tensor.transpose(2, 1, 0)[None],
)
# A bias of four gates.
GATES = Layout(lambda shape: shape, lambda part: to_our_order(part, _GATE_ORDER), _to_file_order)
# Input above recurrent weights, applied as [x, h] W, gates in the columns; two matrices of the same width here.
GATE_KERNEL = Layout(
    lambda of_input, of_state: (of_input[1] + of_state[1], of_input[0]),
    lambda part: to_our_order(part.T, _GATE_ORDER),
    lambda *tensors: _to_file_order(np.concatenate(tensors, axis=1)).T,
)


@dataclass(frozen=True)
class Entry:
    """One line of the name table: a dataset, the tensors in it, and their layout there."""

    dataset: str
    tensors: tuple[str, ...]
    layout: Layout


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
    def found_in(cls, datasets: Container[str], config: BiLMConfig) -> "LstmNames":
        """The names a file uses."""
        both = config.direction == "both"
        one_layer = cls(both, layers_numbered=False)
        numbered = config.num_layers > 1 or one_layer.dataset(0, 0, "W_0") not in datasets
        return cls(both, layers_numbered=numbered)


def name_table(config: BiLMConfig, names: LstmNames | None = None) -> Iterator[Entry]:
    """Every dataset of a model's weight file."""
    yield from _token_encoder_table(config)
    for direction, word in enumerate(config.directions):
        for layer in range(config.num_layers):
            yield from _lstm_table(names or LstmNames(), direction, layer, f"{word}_lstm.layers.{layer}", config)


def read_tensors(
    read: Callable[[str], Float[np.ndarray, "..."]], config: BiLMConfig, names: LstmNames
) -> dict[str, Float[np.ndarray, "..."]]:
    """A model's tensors; `read` gives the dataset of a name."""
    tensors = {}
    for entry in name_table(config, names):
        for name, part in zip(entry.tensors, np.split(read(entry.dataset), len(entry.tensors)), strict=True):
            tensors[name] = np.ascontiguousarray(entry.layout.to_tensor(part))
    return tensors


def dataset_shapes(config: BiLMConfig, names: LstmNames) -> Iterator[tuple[str, Shape]]:
    """Name and shape of every dataset."""
    shapes = dict(network_shapes(config))
    for entry in name_table(config, names):
        yield entry.dataset, entry.layout.shape(*(shapes[name] for name in entry.tensors))


def _token_encoder_table(config: BiLMConfig) -> Iterator[Entry]:
    encoder = "token_encoder"
    if config.has_words:
        yield Entry("embedding", (f"{encoder}.word_embedding",), WITHOUT_PADDING_ROW)
    if config.has_characters:
        yield Entry("char_embed", (f"{encoder}.character_embedding",), WITHOUT_PADDING_ROW)
        for index in range(len(config.filters)):
            yield Entry(f"CNN/W_cnn_{index}", (f"{encoder}.convolutions.{index}.weight",), CONVOLUTION)
            yield Entry(f"CNN/b_cnn_{index}", (f"{encoder}.convolutions.{index}.bias",), PLAIN)
        for index in range(config.num_highway):
            highway = f"{encoder}.highways.{index}"
            # bilm-tf calls the gate "carry", though it multiplies the transformed branch.
            yield Entry(f"CNN_high_{index}/W_carry", (f"{highway}.gate.weight",), TRANSPOSED)
            yield Entry(f"CNN_high_{index}/b_carry", (f"{highway}.gate.bias",), PLAIN)
            yield Entry(f"CNN_high_{index}/W_transform", (f"{highway}.transform.weight",), TRANSPOSED)
            yield Entry(f"CNN_high_{index}/b_transform", (f"{highway}.transform.bias",), PLAIN)
    if config.token_projection:
        yield Entry("CNN_proj/W_proj", (f"{encoder}.projection.weight",), TRANSPOSED)
        yield Entry("CNN_proj/b_proj", (f"{encoder}.projection.bias",), PLAIN)


def _lstm_table(names: LstmNames, direction: int, layer: int, prefix: str, config: BiLMConfig) -> Iterator[Entry]:
    weights = (f"{prefix}.input_weight", f"{prefix}.recurrent_weight")
    yield Entry(names.dataset(direction, layer, "W_0"), weights, GATE_KERNEL)
    yield Entry(names.dataset(direction, layer, "B"), (f"{prefix}.bias",), GATES)
    if config.has_lstm_projection:
        yield Entry(names.dataset(direction, layer, "W_P_0"), (f"{prefix}.projection_weight",), TRANSPOSED)


def pair_of(model: Sequence[str | Path]) -> tuple[Path, Path]:
    """The two paths. Raises ConfigError for another number of files, or for something other than a path."""
    if len(model) != 2 or not all(isinstance(part, str | Path) for part in model):
        raise ConfigError(
            f"model is {tuple(model)!r}, but a pair is two paths: (options.json, weights.hdf5). Pass these two paths."
        )
    return Path(model[0]), Path(model[1])
