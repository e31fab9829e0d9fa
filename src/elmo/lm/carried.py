"""Reading with a carried state: rows of sentences side by side, and no row's state is ever reset.

Source: bilm-tf `bilm/data.py` and `bin/run_test.py`; docs/specification.md, 6.2 and 6.7.
"""

import math
from collections.abc import Sequence

import numpy as np

from elmo.engine.engine import State
from elmo.lm.language_model import LanguageModel, Poll
from elmo.process.progress.report import SILENT, Count, Progress
from elmo.shapes import Float, Int
from elmo.text.batches import pad

Row = Sequence[Sequence[str]]

_WINDOW_TOKENS = 4096  # of all rows


def carried_nats(
    model: LanguageModel,
    direction: str,
    rows: Sequence[Row],
    *,
    steps: int | None = None,
    poll: Poll = lambda: None,
    progress: Progress = SILENT,
) -> list[Float[np.ndarray, " predictions"]]:
    """For each row the nats of its predictions in the order it is read, float32, sentence after sentence.

    A row's sentences are in the order they are read, each in the order of the text: the backward language model
    reverses each of them. `steps`: predictions of each row at most (None: all). Every row starts from a zero state.
    `poll` is called every few thousand tokens and may raise to end it. `progress`: receives the tokens that are read.
    """
    numbers, inputs, targets = _numbered(model, direction, rows, steps)
    read = Count(progress, f"{direction} language model", sum(map(len, inputs)), "tokens")
    state: State | None = None
    found: list[list[Float[np.ndarray, " some"]]] = [[] for _ in rows]
    width = max(1, math.ceil(_WINDOW_TOKENS / max(1, len(rows))))
    for start in range(0, max(map(len, inputs), default=0), width):
        window = slice(start, start + width)
        poll()
        batch, answers = (pad([row[window] for row in them], np.arange(len(rows))) for them in (inputs, targets))
        distinct, at = np.unique(batch.places, return_inverse=True)
        table = model.token_vectors([numbers[number] for number in distinct])
        outputs, state = model.continued(direction, table, at.reshape(batch.places.shape), batch.lengths, state)
        for row, values, length in zip(found, model.nats(outputs, answers.places, poll), batch.lengths, strict=True):
            row.append(values[:length].copy())
        read.add(int(batch.lengths.sum()))
    return [np.concatenate(row) if row else np.empty(0, np.float32) for row in found]


def _numbered(
    model: LanguageModel, direction: str, rows: Sequence[Row], steps: int | None
) -> tuple[list[str], list[Int[np.ndarray, " tokens"]], list[Int[np.ndarray, " predictions"]]]:
    """The distinct tokens; each row's inputs as places among them; each row's targets as vocabulary ids."""
    first, last = (0, 1) if direction == "forward" else (1, 0)  # the boundaries' numbers
    ids = model.target_ids
    boundaries = [ids.begin, ids.end]
    numbers: dict[str, int] = dict(zip(model.token_map.boundary_tokens, (0, 1), strict=True))
    inputs, targets = [], []
    for row in rows:
        read, follow = [], []
        for sentence in row:
            words = sentence if direction == "forward" else sentence[::-1]
            read += [first, *(numbers.setdefault(word, len(numbers)) for word in words)]
            follow += [*map(ids.id, words), boundaries[last]]
        inputs.append(np.array(read[:steps], dtype=np.int64))
        targets.append(np.array(follow[:steps], dtype=np.int64))
    return list(numbers), inputs, targets
