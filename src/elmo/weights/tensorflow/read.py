"""bilm-tf's training checkpoints -> Checkpoint, without TensorFlow.

    checkpoint                    text; names the latest save
    model.ckpt-N.index, .data-*   a tensor bundle
    options.json                  of the training
    vocab*.txt                    optional for models that read characters

Source: bilm-tf `bilm/training.py`. Its `dump_weights` makes options.json + weights.hdf5 of such a folder: same arrays,
other names. So the names are translated here, and the layout of the arrays is that of `allennlp.names`.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from elmo.config import BiLMConfig
from elmo.disk.bounded import is_file, read_bytes, readable, shown
from elmo.disk.json_file import read_json
from elmo.errors import WeightFileError
from elmo.shapes import Float
from elmo.text.word_list import read_word_list
from elmo.weights.allennlp.names import OPTIONS_FILE, SOFTMAX_DATASETS, LstmNames, dataset_shapes, read_tensors
from elmo.weights.allennlp.options import config_of
from elmo.weights.allennlp.read import token_map_of
from elmo.weights.checkpoint import Checkpoint, read_hashed
from elmo.weights.shapes import Shape, require_agreement
from elmo.weights.soundness import finite_float32
from elmo.weights.tensorflow.tensor_bundle import TensorBundle, index_of

STATE_FILE = "checkpoint"
_SCOPES = {"rnn": "RNN", "multi_rnn_cell": "MultiRNNCell", "lstm_cell": "LSTMCell"}
# Up to TensorFlow 1.1 the last part of a cell's variable was called otherwise.
_PARTS = {"weights": "kernel", "biases": "bias"}


def variables_of(shapes: Mapping[str, Shape]) -> dict[str, str]:
    """The published format's dataset names -> the model's variables. An optimizer's slots are below their variable."""
    model = (name for name in shapes if name.startswith("lm/") and name.rpartition("/")[0] not in shapes)
    return {_dataset_name(name): name for name in model}


def _dataset_name(variable: str) -> str:
    scope, *parts = variable.removeprefix("lm/").split("/")
    parts = [_SCOPES.get(part, _PARTS.get(part, re.sub(r"^cell_(?=\d+$)", "Cell", part))) for part in parts]
    name = "/".join([scope, *parts])
    if not scope.startswith("RNN_"):
        return name
    for part, dataset in (("projection/kernel", "W_P_0"), ("kernel", "W_0"), ("bias", "B")):
        if name.endswith(f"/{part}"):
            return name.removesuffix(part) + dataset
    return name


_MAX_STATE_BYTES = 1 << 20
# Without the folder, which is often that of another machine.
_LATEST = re.compile(r'^model_checkpoint_path:\s*"(?:[^"]*[/\\])?(?!\.\.?")([^"/\\]+)"', re.MULTILINE)


def recognizes(path: Path) -> bool:
    """Whether `path` is a folder with a TensorFlow checkpoint, or the checkpoint itself (`.../model.ckpt-N`)."""
    path = Path(path)
    if path.is_dir():
        return (path / STATE_FILE).is_file() or any(path.glob("*.data-?????-of-?????"))
    return is_file(index_of(_without_suffix(path)))


def read(path: Path, *, vocabulary: Path | None = None) -> Checkpoint:
    """The model in a training folder (its latest save), or of the checkpoint `path` (a prefix or its .index).

    options.json must be beside the checkpoint. `vocabulary`: one word per line, in the order of the softmax's rows;
    None: the file vocab*.txt in the folder, if there is one. Optimizer slots are never read. Raises WeightFileError,
    TextError.
    """
    prefix = _prefix(Path(path))
    options_file = prefix.parent / OPTIONS_FILE
    options = read_json(options_file)
    bundle = TensorBundle(prefix)
    vocabulary = _vocabulary_file(prefix.parent) if vocabulary is None else Path(vocabulary)
    files = [options_file, *bundle.files, *([] if vocabulary is None else [vocabulary])]
    return read_hashed(files, lambda: _read(bundle, options, options_file, vocabulary))


def _read(bundle: TensorBundle, options: Mapping[str, Any], options_file: Path, vocabulary: Path | None) -> Checkpoint:
    variables = variables_of(bundle.shapes)
    shapes = {name: bundle.shapes[variable] for name, variable in variables.items()}
    config = config_of(options, shapes, path=options_file, in_training=True)
    words = None if vocabulary is None else read_word_list(vocabulary)
    tensors = _read_tensors(bundle, variables, config, options_file)
    return Checkpoint(
        config,
        tensors,
        token_map_of(config, words, vocabulary, bundle.index),
        vocabulary=words,
        softmax=_read_softmax(bundle, variables, config, options, words),
        source_format="tensorflow",
        metadata={"checkpoint": bundle.index.stem},
    )


def _without_suffix(path: Path) -> Path:
    return path.with_suffix("") if path.suffix == ".index" else path


def _prefix(path: Path) -> Path:
    """The checkpoint meant by a path, without the files' endings."""
    if not path.is_dir():
        return _without_suffix(path)
    saves, latest = sorted(path.glob("*.index")), _latest(path / STATE_FILE)
    if latest is None and len(saves) == 1:
        return _without_suffix(saves[0])
    if latest is None or not is_file(index_of(path / latest)):
        names = ", ".join(save.stem for save in saves[:5]) or "none"
        raise WeightFileError(
            f"{path}: has {len(saves)} checkpoints ({names}), but the file '{STATE_FILE}' names {shown(latest)}. Get "
            "the missing files, or pass the path of one checkpoint, such as FOLDER/model.ckpt-935588."
        )
    return path / latest


def _latest(state_file: Path) -> str | None:
    """The name of the latest checkpoint; None if there is no such file, or it names no checkpoint."""
    if not state_file.is_file():
        return None
    with readable(state_file, WeightFileError, "Pass the path of one checkpoint instead."):
        content = read_bytes(state_file, limit=_MAX_STATE_BYTES)
    found = _LATEST.search(content.decode("utf-8", "replace"))
    return found[1] if found else None


def _vocabulary_file(folder: Path) -> Path | None:
    files = sorted(folder.glob("vocab*.txt"))
    if len(files) > 1:
        raise WeightFileError(
            f"{folder}: has {len(files)} files vocab*.txt ({', '.join(file.name for file in files[:5])}). Pass "
            "vocabulary=, the one the model was trained with."
        )
    return files[0] if files else None


def _read_tensors(
    bundle: TensorBundle, variables: Mapping[str, str], config: BiLMConfig, options: Path
) -> dict[str, np.ndarray]:
    names = LstmNames.found_in(variables, config)
    found = {name: bundle.shapes[name] for key, name in variables.items() if key not in SOFTMAX_DATASETS.values()}
    expected = ((variables.get(key, f"lm/{key}"), shape) for key, shape in dataset_shapes(config, names))
    require_agreement(found, expected, file=str(bundle.index), asked_by=options.name, kind="variable")
    return read_tensors(lambda dataset: _float32(bundle, variables[dataset]), config, names)


def _read_softmax(
    bundle: TensorBundle,
    variables: Mapping[str, str],
    config: BiLMConfig,
    options: Mapping[str, Any],
    words: list[str] | None,
) -> dict[str, np.ndarray] | None:
    """The softmax of training, or None; its weight is the word embedding where the options tie the two."""
    names = SOFTMAX_DATASETS | ({"weight": "embedding"} if options.get("share_embedding_softmax") is True else {})
    found = {variables[name]: bundle.shapes[variables[name]] for name in names.values() if name in variables}
    if not found:
        return None
    rows = options.get("n_tokens_vocab") if words is None else len(words)
    rows = (next(iter(found.values())) or (1,))[0] if rows is None else rows
    asked_by = OPTIONS_FILE if words is None else "the vocabulary"
    shapes = {"weight": (rows, config.projection_size), "bias": (rows,)}
    expected = [(variables.get(name, f"lm/{name}"), shapes[key]) for key, name in names.items()]
    require_agreement(found, expected, file=str(bundle.index), asked_by=asked_by, kind="variable")
    return {key: _float32(bundle, variables[name]) for key, name in names.items()}


def _float32(bundle: TensorBundle, variable: str) -> Float[np.ndarray, "..."]:
    return finite_float32(bundle[variable], variable, str(bundle.index), "variable")
