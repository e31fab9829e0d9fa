"""Checkpoint -> model.onnx, for programs that aren't written in Python. Needs the extra `[onnx]`.

    characters (batch, tokens, characters) and/or words (batch, tokens), lengths (batch,)
        -> layers (layers, batch, tokens, dim)

Ids are int64 and include the sentence boundaries, which `lengths` counts too; what is in the places after a sentence
does not matter, and its vectors are 0. The LSTMs are Scan loops over the tokens: the LSTM of ONNX has no projection,
and its `clip` bounds other values. The backward one reads sentences that ReverseSequence has turned. Opset 17.
"""

import hashlib
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any, Literal

import numpy as np

from elmo.disk.atomic import new_folder
from elmo.disk.json_file import write_json
from elmo.engine.engine import Engine
from elmo.errors import MissingExtraError, WeightFileError
from elmo.setting_checks import require_setting, require_value
from elmo.shapes import Float
from elmo.version import __version__
from elmo.weights.checkpoint import Checkpoint, content_hash
from elmo.weights.native.names import MODEL_FILE
from elmo.weights.native.narrow import Held, Narrow
from elmo.weights.native.tensor_file import narrowed
from elmo.weights.native.write import stored_type
from elmo.weights.soundness import require_sound

ONNX_FILE, TOKENS_FILE = "model.onnx", "tokens.json"
_FILES = frozenset((ONNX_FILE, TOKENS_FILE))
StoredWeights = Literal["float32", "int8"]

_OPSET, _IR = 17, 8
_CLOSE = 5e-5
"""Of the vectors of the file and of the engine, which add up in other orders."""
_MOST_BYTES = 1 << 31  # what a protobuf file can hold


def write(checkpoint: Checkpoint, folder: Path, *, dtype: StoredWeights = "float32", force: bool = False) -> None:
    """Writes model.onnx, and tokens.json, from which ids are made; both appear whole or not at all.

    `dtype`: how matrices are stored; all arithmetic is in float32. onnxruntime's vectors are compared with the engine's
    before the file appears. Raises MissingExtraError, ConfigError (a model of more than 2 GB), WeightFileError (the
    checkpoint contradicts itself, the vectors differ), OutputError.
    """
    require(dtype)
    import onnx  # pyright: ignore[reportMissingImports]
    import onnxruntime  # pyright: ignore[reportMissingImports]

    require_sound(checkpoint)
    graph = _Graph(onnx, checkpoint, dtype)
    content = graph.model().SerializeToString()
    with new_folder(Path(folder), size=len(content), force=force, replaceable=_FILES) as unfinished:
        (unfinished / ONNX_FILE).write_bytes(content)
        write_json(unfinished / TOKENS_FILE, checkpoint.token_map.to_dict(), indent=None)
        _require_right(onnxruntime, checkpoint, dtype, unfinished / ONNX_FILE)


def require(dtype: str) -> None:
    """Raises ConfigError for a type that ONNX files aren't written in, MissingExtraError without the extra."""
    require_value("dtype", dtype, StoredWeights)
    for library in ("onnx", "onnxruntime"):
        if find_spec(library) is None:
            raise MissingExtraError(library, "onnx", "writing ONNX files")


class _Operations:
    """Operations in their order; names are unique in the whole file."""

    def __init__(self, onnx: Any, numbers: Iterator[int]) -> None:
        self.onnx, self.numbers = onnx, numbers
        self.nodes: list[Any] = []

    def add(self, operation: str, *inputs: str, **attributes: Any) -> str:
        """An operation with one output: its name."""
        return self.add_all(operation, [f"{operation} {next(self.numbers)}"], *inputs, **attributes)[0]

    def add_all(self, operation: str, outputs: list[str], *inputs: str, **attributes: Any) -> list[str]:
        self.nodes.append(self.onnx.helper.make_node(operation, inputs, outputs, **attributes))
        return outputs


class _Graph(_Operations):
    """The operations of one model: those of `elmo.reference`, for a batch at once."""

    def __init__(self, onnx: Any, checkpoint: Checkpoint, dtype: StoredWeights) -> None:
        super().__init__(onnx, count())
        self.checkpoint, self.config = checkpoint, checkpoint.config
        self.dtype: StoredWeights = dtype
        self.constants: dict[bytes, Any] = {}

    def model(self) -> Any:
        helper, config = self.onnx.helper, self.config
        inputs: dict[str, list[str | int]] = {"lengths": ["batch"]}
        if config.has_characters:
            inputs["characters"] = ["batch", "tokens", config.max_characters_per_token]
        if config.has_words:
            inputs["words"] = ["batch", "tokens"]
        self.add_all("Identity", ["layers"], self._bilm(self._token_vectors()))
        outputs = self._floats(layers=[config.num_layers + 1, "batch", "tokens", config.output_dim])
        kind = self.onnx.TensorProto.INT64
        given = [helper.make_tensor_value_info(name, kind, sizes) for name, sizes in inputs.items()]
        graph = helper.make_graph(self.nodes, "ELMo", given, outputs, list(self.constants.values()))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR)
        model.producer_name, model.producer_version = "elmo", __version__
        helper.set_model_props(model, _facts(self.checkpoint))
        require_setting(
            model.ByteSize() < _MOST_BYTES, "dtype", self.dtype, f"int8 for an ONNX file above {_MOST_BYTES:,} bytes"
        )
        self.onnx.checker.check_model(model, full_check=True)
        return model

    def _token_vectors(self) -> str:
        """x (batch * tokens, projection_size)."""
        config, features = self.config, []
        if config.has_words:
            words = self.add("Reshape", "words", self.array([-1]))
            features.append(self.add("Gather", self.tensor("token_encoder.word_embedding"), words))
        if config.has_characters:
            y = self._char_cnn()
            for layer in range(config.num_highway):
                y = self._highway(y, f"token_encoder.highways.{layer}")
            features.append(y)
        x = features[0] if len(features) == 1 else self.add("Concat", *features, axis=1)
        return self._linear(x, "token_encoder.projection") if config.token_projection else x

    def _char_cnn(self) -> str:
        ids = self.add("Reshape", "characters", self.array([-1, self.config.max_characters_per_token]))
        vectors = self.add("Gather", self.tensor("token_encoder.character_embedding"), ids)
        vectors = self.add("Transpose", vectors, perm=[0, 2, 1])
        best = []
        for number in range(len(self.config.filters)):
            name = f"token_encoder.convolutions.{number}"
            windows = self.add("Conv", vectors, self.tensor(f"{name}.weight"), self.tensor(f"{name}.bias"))
            best.append(self.add("ReduceMax", windows, axes=[2], keepdims=0))
        return self.add(self.config.activation.capitalize(), self.add("Concat", *best, axis=1))

    def _highway(self, x: str, name: str) -> str:
        gate = self.add("Sigmoid", self._linear(x, f"{name}.gate"))
        transformed = self.add("Relu", self._linear(x, f"{name}.transform"))
        return self.add("Add", self.add("Mul", gate, self.add("Sub", transformed, x)), x)

    def _linear(self, x: str, name: str) -> str:
        return self.add("Add", self.add("MatMul", x, self.factor(f"{name}.weight")), self.tensor(f"{name}.bias"))

    def _bilm(self, x: str) -> str:
        """All layers (layers, batch, tokens, dim), 0 after each sentence."""
        config = self.config
        sizes = self.add("Shape", "characters" if config.has_characters else "words")
        batch, tokens = (self.add("Gather", sizes, self.array([axis])) for axis in (0, 1))
        shape = self.add("Concat", batch, tokens, self.array([config.projection_size]), axis=0)
        x = self.add("Transpose", self.add("Reshape", x, shape), perm=[1, 0, 2])
        sides = [self._direction(x, batch, direction) for direction in config.directions]
        layers = [self.add("Concat", *both, axis=2) for both in zip(*sides, strict=True)]
        stacked = self.add("Concat", *(self.add("Unsqueeze", one, self.array([0])) for one in layers), axis=0)
        stacked = self.add("Transpose", stacked, perm=[0, 2, 1, 3])
        places = self.add("Range", self.array(0), self.add("Squeeze", tokens), self.array(1))
        is_token = self.add("Less", places, self.add("Unsqueeze", "lengths", self.array([1])))
        return self.add("Where", self.add("Unsqueeze", is_token, self.array([2])), stacked, self.array(0, np.float32))

    def _direction(self, x: str, batch: str, direction: str) -> list[str]:
        """The layers (tokens, batch, projection_size) of one language model."""

        def turned(sequences: str) -> str:
            if direction == "forward":
                return sequences
            return self.add("ReverseSequence", sequences, "lengths", time_axis=0, batch_axis=1)

        layers = [turned(x)]
        for layer in range(self.config.num_layers):
            output = self._lstm(layers[-1], batch, f"{direction}_lstm.layers.{layer}")
            is_added = layer > 0 and self.config.skip_connections
            layers.append(self.add("Add", output, layers[-1]) if is_added else output)
        return [x, *map(turned, layers[1:])]

    def _lstm(self, inputs: str, batch: str, name: str) -> str:
        """The outputs of a layer. W_x x + b is one product for all tokens; the loop does the rest."""
        config = self.config
        bias = np.array(self.checkpoint.tensors[f"{name}.bias"])
        bias[config.cell_size : 2 * config.cell_size] += config.forget_bias
        of_inputs = self.add("MatMul", inputs, self.factor(f"{name}.input_weight"))
        of_inputs = self.add("Add", of_inputs, self.array(bias, np.float32))
        recurrent = self.factor(f"{name}.recurrent_weight")
        projection = self.factor(f"{name}.projection_weight") if config.has_lstm_projection else None

        step = _Operations(self.onnx, self.numbers)
        gates = step.add("Add", "gates", step.add("MatMul", "h", recurrent))
        i, f, o, j = step.add_all("Split", [f"{gate} {next(self.numbers)}" for gate in "ifoj"], gates, axis=1)
        kept = step.add("Mul", step.add("Sigmoid", f), "c")
        cell = step.add("Add", kept, step.add("Mul", step.add("Sigmoid", i), step.add("Tanh", j)))
        cell = self._clipped(step, cell, config.cell_clip)
        output = step.add("Mul", step.add("Sigmoid", o), step.add("Tanh", cell))
        if projection is not None:
            output = self._clipped(step, step.add("MatMul", output, projection), config.projection_clip)
        for result, to in ((output, "next h"), (cell, "next c"), (output, "output")):
            step.add_all("Identity", [to], result)
        h, c = ["batch", config.projection_size], ["batch", config.cell_size]
        given = self._floats(h=h, c=c, gates=["batch", 4 * config.cell_size])
        results = self._floats(**{"next h": h, "next c": c, "output": h})
        body = self.onnx.helper.make_graph(step.nodes, f"a step of {name}", given, results)
        zeros = [
            self.add("Expand", self.array(0, np.float32), self.add("Concat", batch, self.array([size]), axis=0))
            for size in (config.projection_size, config.cell_size)
        ]
        outputs = [f"{name} {result}" for result in ("h", "c", "outputs")]
        return self.add_all("Scan", outputs, *zeros, of_inputs, body=body, num_scan_inputs=1)[2]

    def _clipped(self, step: _Operations, values: str, bound: float | None) -> str:
        if bound is None:
            return values
        return step.add("Clip", values, self.array(-bound, np.float32), self.array(bound, np.float32))

    def _floats(self, **sizes: list[str | int]) -> list[Any]:
        make, kind = self.onnx.helper.make_tensor_value_info, self.onnx.TensorProto.FLOAT
        return [make(name, kind, shape) for name, shape in sizes.items()]

    def factor(self, name: str) -> str:
        """The transpose of a matrix, as float32 whatever it is stored as."""
        held, floats = _held(name, self.checkpoint.tensors[name], self.dtype), self.onnx.TensorProto.FLOAT
        if not isinstance(held, Narrow):
            return self.array(held.T, np.float32)
        # Cast and Mul: with DequantizeLinear onnxruntime rounds the other factor of the product too.
        stored = self.add("Cast", self.array(held.stored.T, held.stored.dtype), to=floats)
        return stored if held.steps is None else self.add("Mul", stored, self.array(held.steps.T, np.float32))

    def tensor(self, name: str) -> str:
        """A tensor of the checkpoint that is stored as float32."""
        return self.array(self.checkpoint.tensors[name], np.float32)

    def array(self, value: Any, dtype: Any = np.int64) -> str:
        """A constant, of which equal ones are kept once; uint16: the bits of bfloat16."""
        made = np.array(value, dtype, order="C")
        key = hashlib.sha256(f"{made.dtype}{made.shape}".encode() + made.tobytes()).digest()
        if key not in self.constants:
            kind = self.onnx.helper.np_dtype_to_tensor_dtype(made.dtype)
            kind = self.onnx.TensorProto.BFLOAT16 if dtype == np.uint16 else kind
            name = f"constant {next(self.numbers)}"
            self.constants[key] = self.onnx.helper.make_tensor(name, kind, made.shape, made.tobytes(), raw=True)
        return self.constants[key].name


def _facts(checkpoint: Checkpoint) -> dict[str, str]:
    """What a program that reads the file may want to know."""
    config, boundaries = checkpoint.config, checkpoint.token_map.ids(checkpoint.token_map.boundary_tokens)
    ids = {"boundary_characters": boundaries.characters, "boundary_words": boundaries.words}
    return {
        "model_hash": content_hash(checkpoint),
        "layers": "0: the token layer; the last one is the top layer",
        "characters": config.characters,
        "max_characters_per_token": str(config.max_characters_per_token),
        "licence": checkpoint.metadata.get("licence", ""),
        **{name: str(found.tolist()) for name, found in ids.items() if found is not None},
    }


def _held(name: str, tensor: Float[np.ndarray, "..."], dtype: StoredWeights) -> Held:
    """A tensor in its stored form: matrices as our own format has them, all else in float32."""
    return narrowed(name, tensor, stored_type(MODEL_FILE, name, dtype) if np.ndim(tensor) == 2 else "float32")


def _require_right(runtime: Any, checkpoint: Checkpoint, dtype: StoredWeights, file: Path) -> None:
    """WeightFileError unless the file gives the engine's vectors for two sentences in a batch."""
    config, chance, lengths = checkpoint.config, np.random.default_rng(0), np.array([3, 5])
    given: dict[str, Any] = {"lengths": lengths}
    if config.has_characters:
        given["characters"] = chance.integers(1, config.num_characters, (2, 5, config.max_characters_per_token))
    if config.has_words:
        given["words"] = chance.integers(1, config.num_words, (2, 5))
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    (layers,) = session.run(["layers"], given)
    tensors = {name: np.asarray(_held(name, tensor, dtype)) for name, tensor in checkpoint.tensors.items()}
    engine = Engine(config, tensors)
    characters, words = given.get("characters"), given.get("words")
    characters = None if characters is None else characters.reshape(10, -1).astype(np.int32)
    table = engine.token_vectors(characters, None if words is None else words.reshape(10))
    expected, _ = engine.contextualize(table.reshape(2, 5, -1), lengths)
    for row, length in enumerate(lengths):
        error = float(np.abs(layers[:, row, :length] - expected[:, row, :length]).max())
        if not error <= _CLOSE * max(1.0, np.abs(expected).max()) or layers[:, row, length:].any():
            raise WeightFileError(
                f"onnxruntime {runtime.__version__} gives vectors that differ from this package's by {error:.1e}. "
                "Nothing was written. Please report the model and this version."
            )
