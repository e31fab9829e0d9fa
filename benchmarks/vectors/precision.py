"""How far vectors are from those of float64, by dtype and layer: largest and mean error, mean and lowest cosine.

    python benchmarks/vectors/precision.py                                    the bundled models, on real text
    python benchmarks/vectors/precision.py --model original --sentences 100   published size, random weights

The yardstick is the plain operations in float64 (plain_embedding.py) on the same weights.
"""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

import numpy as np
import torch
from plain_embedding import PlainEmbedder
from record import Record, Table, parser
from sentences import DATA, TEXT, first_sentences
from speed import DTYPES, random_bilm

from elmo.config import PUBLISHED_SIZES
from elmo.embed.embedder import Embedder
from elmo.model.bilm import BiLM

TEXTS = {"small-en": TEXT, "small-ko": DATA / "lm-ko" / "test.txt"}
TARGETS = {"float32": 0.0, "bfloat16": 0.9995, "int8": 0.998}


def main() -> int:
    """Measures and writes the record; exit code 1 if a mean cosine is below its target."""
    arguments = parser(__doc__)
    arguments.add_argument(
        "--models", nargs="+", default=list(TEXTS), help=f"names, folders, or {', '.join(PUBLISHED_SIZES)}"
    )
    arguments.add_argument("--text", type=Path, help="one sentence a line (default: the held-out text of the model)")
    arguments.add_argument("--sentences", type=int, default=1000)
    arguments.add_argument("--dtypes", nargs="+", default=list(DTYPES), choices=DTYPES)
    given = arguments.parse_args()
    rows: list[list[object]] = []
    missed = []
    for model in given.models:
        bilm = random_bilm(model) if model in PUBLISHED_SIZES else BiLM.from_pretrained(model).requires_grad_(False)
        sentences = first_sentences(given.text or TEXTS.get(model, TEXT), given.sentences)
        exact = _in_batches(PlainEmbedder(bilm, torch.float64).embed, sentences)
        for dtype in given.dtypes:
            embedder = Embedder(bilm, dtype=dtype)
            found = _in_batches(embedder.embed, sentences)
            for layer in range(len(exact[0])):
                errors = _errors([one[layer] for one in found], [one[layer] for one in exact])
                rows.append([model, dtype, layer, *(f"{value:.2g}" for value in errors[:3]), *map(_cosine, errors[3:])])
                if errors[3] < TARGETS[dtype]:
                    missed.append(f"{model}, {dtype}, layer {layer}")
    columns = ["model", "dtype", "layer", "numbers' own size", "largest error", "mean error", "mean cosine", "lowest"]
    sentence = (
        f"Mean cosines below their targets ({json.dumps(TARGETS)}): {'; '.join(missed) or 'none'}. Numbers' own size "
        "is the mean absolute value in float64. What an error means for a task: see docs/performance.md."
    )
    settings: dict[str, Any] = {"sentences": f"the first {given.sentences:,} of the text"}
    Record("precision", "Vectors beside those of float64", [Table(columns, rows)], sentence, settings).write(
        given.results
    )
    return 1 if missed else 0


def _in_batches(
    embed: Callable[[Sequence[Sequence[str]]], list[np.ndarray]], sentences: list[list[str]], size: int = 50
) -> list[np.ndarray]:
    ordered = sorted(range(len(sentences)), key=lambda place: len(sentences[place]))
    results: list[Any] = [None] * len(sentences)
    for start in range(0, len(ordered), size):
        places = ordered[start : start + size]
        for place, array in zip(places, embed([sentences[one] for one in places]), strict=True):
            results[place] = array
    return results


def _errors(found: list[np.ndarray], exact: list[np.ndarray]) -> tuple[float, float, float, float, float]:
    """Mean size, largest and mean error, mean and lowest cosine of the tokens."""
    ours, right = np.concatenate(found).astype(np.float64), np.concatenate(exact)
    away = np.abs(ours - right)
    cosines = (ours * right).sum(1) / np.linalg.norm(ours, axis=1) / np.linalg.norm(right, axis=1)
    return (
        float(np.abs(right).mean()),
        float(away.max()),
        float(away.mean()),
        float(cosines.mean()),
        float(cosines.min()),
    )


def _cosine(value: float) -> str:
    return f"{value:.7f}" if value > 0.9999 else f"{value:.5f}"


if __name__ == "__main__":
    raise SystemExit(main())
