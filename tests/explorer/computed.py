"""The page's computation of a token's vectors, run by node."""

import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from safetensors.numpy import save_file
from tests.explorer.answers import Marked
from tests.explorer.in_node import node

import elmo
from elmo.config import BiLMConfig
from elmo.explorer.explored import Explored
from elmo.weights.checkpoint import Checkpoint

SCRIPT = Path(elmo.__file__).parent / "explorer" / "local" / "computation.js"
RUN = """
import { readFileSync } from "node:fs";
import { computation, tensorsOf } from %s;
const { config, model, asked } = JSON.parse(readFileSync(0));
const tensor = tensorsOf(new Uint8Array(readFileSync(model)));
console.log(JSON.stringify(asked.map(([tokens, place]) => computation({ config, tensor, words: 100 }, tokens, place))));
"""


def computation(explored: Explored, one: Marked) -> SimpleNamespace:
    """Of a model as its folder stores it."""
    return _steps(explored.model.embedder.config, explored.folder / "model.safetensors", [one])[0]


def steps(checkpoint: Checkpoint, asked: Sequence[Marked]) -> list[SimpleNamespace]:
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.safetensors"
        save_file({name: np.ascontiguousarray(tensor) for name, tensor in checkpoint.tensors.items()}, model)
        return _steps(checkpoint.config, model, asked)


def _steps(config: BiLMConfig, model: Path, asked: Sequence[Marked]) -> list[SimpleNamespace]:
    found = node(RUN % json.dumps(SCRIPT.as_uri()), {"config": asdict(config), "model": str(model), "asked": asked})
    return json.loads(json.dumps(found), object_hook=lambda fields: SimpleNamespace(**fields))
