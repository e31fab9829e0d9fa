"""Writing a model of context2vec, so that its own programs and `read` read it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from elmo.weights.context2vec.layout import TARGETS, Sizes, from_torch
from elmo.weights.context2vec.read import PARAMS_FILE

_MODEL_FILE, _WORDS_FILE = "context2vec.npz", "context2vec.targets"
FILES = frozenset({PARAMS_FILE, _MODEL_FILE, _WORDS_FILE})


def write(
    folder: Path, words: Sequence[str], sizes: Sizes, tensors: Mapping[str, np.ndarray], comments: Sequence[str] = ()
) -> None:
    """The three files. `tensors`: by the names of `Context2Vec.state_dict()`. `comments`: lines for the .params."""
    with (folder / _MODEL_FILE).open("wb") as file:
        arrays: Any = from_torch(tensors, sizes)
        np.savez(file, **arrays)
    with (folder / _WORDS_FILE).open("w", encoding="utf-8") as file:
        file.write(f"{sizes.num_words} {2 * sizes.unit}\n")
        for word, vector in zip(words, tensors[TARGETS], strict=True):
            file.write(f"{word} {' '.join(f'{value:.6f}' for value in vector)}\n")
    values = {"model_file": _MODEL_FILE, "words_file": _WORDS_FILE, "unit": sizes.unit}
    values |= {"deep": "yes" if sizes.is_deep else "no", "drop_ratio": 0.0}
    lines = [f"{key}\t{value}" for key, value in values.items()] + [f"#\t{comment}" for comment in comments]
    (folder / PARAMS_FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")
