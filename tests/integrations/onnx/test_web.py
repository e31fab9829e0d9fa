"""The ONNX files in onnxruntime-web, run by node: $ELMO_ONNXRUNTIME_WEB is npm's folder node_modules that has it."""

import base64
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from elmo.embed.embedder import Embedder
from elmo.weights import formats, hub
from elmo.weights.checkpoint import Checkpoint

pytest.importorskip("onnxruntime", reason="needs pip install 'pyelmo[onnx]'")
from tests.integrations.onnx.test_write import inputs_of

from elmo.integrations import onnx as onnx_file

PACKAGES = os.environ.get("ELMO_ONNXRUNTIME_WEB")
pytestmark = pytest.mark.skipif(PACKAGES is None, reason="needs npm's onnxruntime-web: .ci/integrations installs it")

WORDS = {"small-en": "He sat by the bank of the river .", "small-ko": "나는 어제 배 를 타고 강 을 건넜다 ."}


def vectors(model: Path, batches: list[list[list[str]]], checkpoint: Checkpoint) -> list[np.ndarray]:
    """Of batches of sentences, from one process of node."""
    asked = [
        {name: {"shape": it.shape, "values": it.ravel().tolist()} for name, it in inputs_of(checkpoint, batch).items()}
        for batch in batches
    ]
    command = ["node", str(Path(__file__).with_name("vectors.mjs")), str(model), str(PACKAGES)]
    done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return [np.frombuffer(base64.b64decode(one["values"]), np.float32).reshape(one["shape"]) for one in found]


@pytest.mark.parametrize(("name", "dtype"), [("small-en", "float32"), ("small-en", "int8"), ("small-ko", "float32")])
def test_bundled_models_give_their_vectors_in_onnxruntime_web(name: str, dtype: str, tmp_path: Path) -> None:
    """Sentences of 1 to 9 words, and each of them alone as in a batch. small-en is stored in int8 anyway."""
    checkpoint, words = formats.read(hub.resolve(name)), WORDS[name].split()
    sentences = [words[:length] for length in range(1, 10)]
    onnx_file.write(checkpoint, tmp_path / "out", dtype=dtype)
    batches = [sentences, *([sentence] for sentence in sentences)]
    together, *alone = vectors(tmp_path / "out" / onnx_file.ONNX_FILE, batches, checkpoint)
    expected = Embedder.from_pretrained(name, device="cpu", keep_boundaries=True).embed(sentences)
    for row, layers in enumerate(expected):
        length = layers.shape[1]
        np.testing.assert_allclose(together[:, row, :length], layers, rtol=0, atol=5e-5)
        np.testing.assert_array_equal(alone[row][:, 0], together[:, row, :length])
        assert not together[:, row, length:].any()
