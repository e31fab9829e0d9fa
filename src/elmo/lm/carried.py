"""Reading with a carried state: rows of sentences side by side, and no row's state is ever reset.

Source: bilm-tf `bilm/data.py` and `bin/run_test.py`; docs/specification.md, 6.2 and 6.7.
"""

import math
from collections.abc import Sequence
from itertools import chain, islice

import numpy as np

from elmo.engine.engine import State
from elmo.lm.language_model import LanguageModel, Poll
from elmo.process.progress.report import SILENT, Count, Progress
from elmo.shapes import Float
from elmo.text.batches import number_tokens, pad

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
    tokens, places = number_tokens(list(chain.from_iterable(rows)), model.token_map.boundary_tokens)
    target_of = model.targets_of(tokens)
    lines = iter(places if direction == "forward" else [line[::-1] for line in places])
    inputs, targets = [], []
    for row in rows:
        own = list(islice(lines, len(row)))
        inputs.append(np.concatenate([line[:-1] for line in own])[:steps])
        targets.append(target_of[np.concatenate([line[1:] for line in own])[:steps]])
    read = Count(progress, f"{direction} language model", sum(map(len, inputs)), "tokens")
    state: State | None = None
    found: list[list[Float[np.ndarray, " some"]]] = [[] for _ in rows]
    width = max(1, math.ceil(_WINDOW_TOKENS / max(1, len(rows))))
    for start in range(0, max(map(len, inputs), default=0), width):
        window = slice(start, start + width)
        poll()
        batch, answers = (pad([row[window] for row in them], np.arange(len(rows))) for them in (inputs, targets))
        distinct, at = np.unique(batch.places, return_inverse=True)
        table = model.token_vectors([tokens[number] for number in distinct])
        outputs, state = model.continued(direction, table, at.reshape(batch.places.shape), batch.lengths, state)
        for row, values, length in zip(found, model.nats(outputs, answers.places, poll), batch.lengths, strict=True):
            row.append(values[:length].copy())
        read.add(int(batch.lengths.sum()))
    return [np.concatenate(row) if row else np.empty(0, np.float32) for row in found]
