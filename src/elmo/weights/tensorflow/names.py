"""What bilm-tf calls a model's variables in training -> what it calls its datasets in weights.hdf5.

Source: bilm-tf `bilm/training.py` (`dump_weights`): same arrays, other names.
"""

import re
from collections.abc import Mapping

from elmo.weights.shapes import Shape

OPTIONS_FILE = "options.json"
STATE_FILE = "checkpoint"
SOFTMAX = {"weight": "softmax/W", "bias": "softmax/b"}
_SCOPES = {"rnn": "RNN", "multi_rnn_cell": "MultiRNNCell", "lstm_cell": "LSTMCell"}
# Up to TensorFlow 1.1 the last part of a cell's variable was called otherwise.
_PARTS = {"weights": "kernel", "biases": "bias"}


def variables_of(shapes: Mapping[str, Shape]) -> dict[str, str]:
    """The published format's dataset names -> the model's variables. An optimizer's slots lie below a variable."""
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
