"""AllenNLP's own ELMo beside this one: the same weights and sentences, in turn; vectors equal, and words per second.

    python benchmarks/vectors/allennlp_speed.py                     published size, random weights; takes minutes

Needs an environment where `import allennlp.modules.elmo` works (allennlp 2.10.1, the last one) beside torch. AllenNLP
is called as its users call it: `_ElmoBiLm` on `batch_to_ids`, without gradients, at most 64 sentences a call, in the
order of the text and sorted by length. Its state is put back to zero before every call, because it carries the state
over, and this package doesn't. Both compute in float32. Words seen before are forgotten between the rounds.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

import numpy as np
import torch
from record import Record, Table, parser
from sentences import TEXT, first_sentences
from speed import random_bilm, words_of

from elmo.embed.embedder import Embedder
from elmo.weights import formats
from elmo.weights.allennlp.write import write

_BATCH = 64
Sentences = Sequence[Sequence[str]]
_NOT_HERE = (
    "allennlp.modules.elmo can't be imported here ({}), so there is nothing to compare with. Make an environment with "
    "allennlp==2.10.1 and what its import asks for, beside torch, and run this script with its Python."
)


def main() -> int:
    """Measures and writes the record; exit code 1 if vectors differ, 2 without AllenNLP."""
    arguments = parser(__doc__)
    arguments.add_argument("--size", choices=("small", "original"), default="original")
    arguments.add_argument("--text", type=Path, default=TEXT, help="one sentence a line, .xz or plain")
    arguments.add_argument("--sentences", type=int, default=2000, help="in calls of 64, and sorted")
    arguments.add_argument("--single", type=int, default=60, help="sentences that are embedded one by one")
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--rounds", type=int, default=3)
    given = arguments.parse_args()
    try:
        from allennlp.modules import elmo as allennlp
    except ImportError as error:
        print(_NOT_HERE.format(error), file=sys.stderr)
        return 2
    torch.set_num_threads(given.threads)
    sentences = first_sentences(given.text, given.sentences)
    with tempfile.TemporaryDirectory() as folder:
        files = _published_files(given.size, Path(folder) / "model")
        theirs = _AllenNLP(allennlp, *files)
        ours = Embedder(formats.read(files), dtype="float32")
    largest = _largest_difference(ours, theirs, sentences[:_BATCH])
    print(f"largest difference of a vector: {largest:.1e}", flush=True)
    calls: dict[str, tuple[Sentences, int]] = {
        f"all {len(sentences)} in one call (AllenNLP: {_BATCH} a call, sorted by length)": (sentences, 0),
        f"{_BATCH} a call, as they come": (sentences, _BATCH),
        "one a call": (sentences[: given.single], 1),
    }
    found: dict[tuple[str, str], list[float]] = {(name, who): [] for name in calls for who in ("AllenNLP", "elmo")}
    for turn in range(given.rounds):
        for name, (chosen, batch) in calls.items():
            ours.forget_words()
            found[name, "elmo"].append(_speed(ours.embed, chosen, batch or len(chosen)))
            chosen = chosen if batch else sorted(chosen, key=len)
            found[name, "AllenNLP"].append(_speed(theirs.embed, chosen, batch or _BATCH))
            shown = ", ".join(f"{who} {found[name, who][-1]:,.0f}" for who in ("AllenNLP", "elmo"))
            print(f"round {turn + 1}: {name}: {shown} words/s", flush=True)
    rows = [[name, *_figures(found[name, "AllenNLP"], found[name, "elmo"])] for name in calls]
    columns = ["sentences", "AllenNLP words/s, median", "best", "elmo words/s, median", "best", "ratio of medians"]
    settings = {
        "model": f"{given.size}, random weights, AllenNLP's HDF5 format, float32",
        "text": f"{len(sentences)} sentences, {words_of(sentences)} words, of {given.text.name}",
        "threads": given.threads,
        "products": ours.describe()["products"],
        "largest difference of a vector": f"{largest:.1e}, of {_BATCH} sentences, all layers",
    }
    sentence = "Both are timed in every round, so that what else the machine does falls on both."
    Record("allennlp", "Beside AllenNLP 2.10.1", [Table(columns, rows)], sentence, settings).write(given.results)
    return 0 if largest < 1e-5 else 1


class _AllenNLP:
    """Its biLM."""

    def __init__(self, module: Any, options: Path, weights: Path) -> None:
        self._bilm = module._ElmoBiLm(str(options), str(weights)).eval()
        self._ids = module.batch_to_ids

    def embed(self, sentences: Sentences) -> list[np.ndarray]:
        """(layers, tokens, dim) of each sentence, without boundaries."""
        self._bilm._elmo_lstm.reset_states()
        with torch.no_grad():
            layers = torch.stack(self._bilm(self._ids(sentences))["activations"]).numpy()
        return [layers[:, row, 1 : len(sentence) + 1] for row, sentence in enumerate(sentences)]


def _published_files(size: str, folder: Path) -> tuple[Path, Path]:
    """A model of that size with random weights, as AllenNLP published such."""
    write(random_bilm(size).to_checkpoint(), folder)
    return folder / "options.json", folder / "weights.hdf5"


def _largest_difference(ours: Embedder, theirs: _AllenNLP, sentences: Sentences) -> float:
    pairs = zip(ours.embed(sentences), theirs.embed(sentences), strict=True)
    return max(float(np.abs(one - other).max()) for one, other in pairs)


def _speed(embed: Callable[[Any], object], sentences: Sentences, batch: int) -> float:
    begun = time.perf_counter()
    for start in range(0, len(sentences), batch):
        embed(sentences[start : start + batch])
    return words_of(sentences) / (time.perf_counter() - begun)


def _figures(theirs: list[float], ours: list[float]) -> list[str]:
    medians = statistics.median(theirs), statistics.median(ours)
    shown = [f"{value:,.0f}" for value in (medians[0], max(theirs), medians[1], max(ours))]
    return [*shown, f"{medians[1] / medians[0]:.1f}"]


if __name__ == "__main__":
    raise SystemExit(main())
