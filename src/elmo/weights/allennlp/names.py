"""The name table: every dataset of weights.hdf5, the tensors in it and how they lie there.

Source: bilm-tf `bilm/training.py` (`dump_weights`). The quirk: "carry" and "transform" name what the paper calls gate
and transform.
"""

from collections.abc import Container, Iterator
from dataclasses import dataclass

from elmo.config import BiLMConfig
from elmo.weights.allennlp.layouts import Convolution, GateKernel, Gates, Plain, Transposed, WithoutPaddingRow
from elmo.weights.shapes import Shape, network_shapes

OPTIONS_FILE = "options.json"
WEIGHTS_FILE = "weights.hdf5"
SOFTMAX_FILE = "softmax.hdf5"
VOCABULARY_FILE = "vocab.txt"
SOFTMAX_DATASETS = {"weight": "softmax/W", "bias": "softmax/b"}


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


def dataset_shapes(config: BiLMConfig, names: LstmNames) -> Iterator[tuple[str, Shape]]:
    """Name and shape of every dataset, found without making a list of all the model's tensors."""
    pending: dict[str, Shape] = {}
    shapes = network_shapes(config)
    for entry in name_table(config, names):
        for name in entry.tensors:
            while name not in pending:
                found, shape = next(shapes)
                pending[found] = shape
        yield entry.dataset, entry.layout.shape(*(pending[name] for name in entry.tensors))


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
