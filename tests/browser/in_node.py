"""Runs elmo.js in node, and gives what it computes to Python."""

import base64
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
from tests.conftest import checkpoint_of

import elmo
from elmo.config import BiLMConfig
from elmo.explorer.texts import bundled_text
from elmo.weights.checkpoint import Checkpoint

PACKAGE = Path(elmo.__file__).parent
BROWSER = PACKAGE / "browser"
_PROGRAM = """
import {{ readFileSync }} from "node:fs";
import {{ ElmoError, load }} from "{browser}/elmo.js";
const given = JSON.parse(readFileSync(0, "utf8"));
const base64 = (array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString("base64");
const floats = (array) => ({{ floats: base64(array) }});
const module = (name) => import("{browser}/" + name);
const bytes = (text) => new Uint8Array(Buffer.from(text, "base64"));
const run = async () => {{ {code} }};
try {{
  process.stdout.write(JSON.stringify({{ found: await run() }}));
}} catch (error) {{
  if (!(error instanceof ElmoError)) throw error;
  process.stdout.write(JSON.stringify({{ error: error.message }}));
}}
"""


class Refused(Exception):
    """An ElmoError, in node."""


def base64_of(array: np.ndarray) -> str:
    """Its bytes, for `bytes` there."""
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def _restored(value: Any) -> Any:
    """Arrays, wherever they are in the answer."""
    if isinstance(value, dict) and set(value) == {"floats"}:
        return np.frombuffer(base64.b64decode(value["floats"]), np.float32)
    if isinstance(value, dict):
        return {key: _restored(one) for key, one in value.items()}
    return [_restored(one) for one in value] if isinstance(value, list) else value


def run(node: str, code: str, given: dict[str, Any]) -> Any:
    """The result of the body of an async function, which has `load`, `module`, `floats`, `bytes` and `given`.

    Raises Refused for an ElmoError.
    """
    program = _PROGRAM.format(browser=BROWSER.as_uri(), code=code)
    command = [node, "--input-type=module", "-e", program]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    if "error" in answer:
        raise Refused(answer["error"])
    return _restored(answer.get("found"))


def as_arrays(vectors: list[dict[str, Any]]) -> list[np.ndarray]:
    """What elmo.embed gives, as (layers, tokens, dim)."""
    return [one["data"].reshape(one["layers"], one["tokens"], one["dimensions"]) for one in vectors]


def sentences_of(language: str, count: int) -> list[list[str]]:
    """The first sentences of a bundled text."""
    lines = bundled_text(language).path.read_text(encoding="utf-8").splitlines()
    return [line.split() for line in lines if line.strip()][:count]


def random_checkpoint(config: BiLMConfig, *, words: int = 0) -> Checkpoint:
    """Random weights whose sums keep their size, so that rounding errors do too; a softmax over so many words."""
    if not words:
        return checkpoint_of(config)
    chance = np.random.default_rng(7)
    shapes = {"weight": (words, config.projection_size), "bias": (words,)}
    softmax = {name: chance.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    vocabulary = ["<S>", "</S>", "<UNK>", *(f"w{index}" for index in range(words - 3))]
    return checkpoint_of(config, vocabulary=vocabulary, softmax=softmax)
