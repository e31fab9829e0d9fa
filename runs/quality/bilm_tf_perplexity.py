"""Perplexity of a tokenized text as bilm-tf's `bin/run_test.py` measures it, to compare with figures of that program.

    python runs/quality/bilm_tf_perplexity.py MODEL TEXT [--batch-size 256]

The text goes through `batch_size` rows, one token of each row a step. A row whose sentence is used up pulls the next
one of the text; the state is carried on. It ends at the first step in which a row finds no sentence: what the rows hold
then is not measured. The forward and the backward language model pull the same sentences at the same steps.
A blank line is a sentence of no words, with one prediction.
Source: docs/specification.md, 6.2 and 6.7; bilm-tf `bilm/data.py`.
"""

import argparse
import heapq
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elmo.errors import ElmoError, TextError
from elmo.lm.carried import carried_nats
from elmo.lm.language_model import LanguageModel
from elmo.lm.named_model import load_language_model
from elmo.lm.sums import Perplexity
from elmo.process.progress.report import Progress, following
from elmo.setting_checks import PositiveInt, require_value
from elmo.text.files.lines import utf8_lines
from elmo.text.vocabulary import TargetIds

BATCH_SIZE = 256


@dataclass(frozen=True)
class BilmTfPerplexity:
    """A perplexity by bilm-tf's protocol, and the parts of the text that it leaves out."""

    measured: Perplexity
    """Its sentences are those of which every token was predicted; its unknown words those that the forward direction
    came to."""
    num_steps: int
    """Every row made one prediction in each of them, in each direction."""
    dropped_sentences: int
    """Sentences that were not predicted to their end."""
    dropped_predictions: int
    """Tokens and boundaries that were not predicted, in each direction."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        values = self.measured.to_dict()
        dropped = {"dropped_sentences": self.dropped_sentences, "dropped_predictions": self.dropped_predictions}
        return {**values, "protocol": "bilm-tf", "steps": self.num_steps, **dropped}


def evaluate_like_bilm_tf(
    model: LanguageModel,
    sentences: Iterable[Sequence[str]],
    *,
    batch_size: int = BATCH_SIZE,
    progress: Progress | bool = False,
) -> BilmTfPerplexity:
    """bilm-tf's perplexity: exp of the mean over steps of the mean over rows and directions.

    `batch_size`: rows, each with its own carried state. `progress`: receives the tokens that each direction reads;
    True: bars on stderr.
    Raises TextError if the text has not even one sentence for each row, for which bilm-tf has no figure either.
    """
    require_value("batch_size", batch_size, PositiveInt)
    text = list(sentences)
    rows, steps = fill_rows([len(sentence) + 1 for sentence in text], batch_size)
    if steps == 0:
        raise TextError(
            f"the text has {len(text)} sentences, but {batch_size} rows need one each at the first step, so "
            f"bilm-tf's protocol measures nothing. Use --batch-size {max(1, len(text) // 2)} or less, or a longer text."
        )
    order = [[text[i] for i in row] for row in rows]
    nats = {}
    with following(progress) as reported:
        for direction in model.config.directions:
            read = carried_nats(model, direction, order, steps=steps, progress=reported)
            nats[direction] = sum(float(values.sum(dtype="float64")) for values in read)
    return _result(text, rows, steps, nats, model.target_ids)


def fill_rows(lengths: Sequence[int], batch_size: int) -> tuple[list[list[int]], int]:
    """Which sentences each row pulls, by their number, and after how many steps a row finds none.

    `lengths`: predictions of each sentence, its tokens and a boundary.
    """
    rows: list[list[int]] = [[] for _ in range(batch_size)]
    free = [(0, row) for row in range(batch_size)]  # the step at which a row needs a sentence; the rows pull in turn
    for sentence, length in enumerate(lengths):
        step, row = heapq.heappop(free)
        rows[row].append(sentence)
        heapq.heappush(free, (step + length, row))
    return rows, free[0][0]


def _result(
    text: list[Sequence[str]], rows: list[list[int]], steps: int, nats: dict[str, float], ids: TargetIds
) -> BilmTfPerplexity:
    whole, unknown = 0, 0
    for row in rows:
        used = 0
        for sentence in row:
            unknown += sum(ids.id(word) == ids.unknown for word in text[sentence][: max(0, steps - used)])
            used += len(text[sentence]) + 1
            whole += used <= steps
    predictions = steps * len(rows)
    measured = Perplexity(nats, predictions, whole, unknown)
    possible = sum(len(sentence) + 1 for sentence in text)
    return BilmTfPerplexity(measured, steps, len(text) - whole, possible - predictions)


def main(arguments: Sequence[str] | None = None) -> int:
    """0: printed; 2: the model or the text can't be read."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("model", help="a name, a folder or file")
    parser.add_argument("text", type=Path, help="tokenized sentences, one a line")
    parser.add_argument("--batch-size", type=int, default=BATCH_SIZE, help="rows, each with its own carried state")
    options = parser.parse_args(arguments)
    try:
        sentences = [line.split() for line in utf8_lines(options.text)]
        found = evaluate_like_bilm_tf(load_language_model(options.model), sentences, batch_size=options.batch_size)
    except (ElmoError, OSError) as error:
        print(f"bilm_tf_perplexity: {error}", file=sys.stderr)
        return 2
    print(json.dumps({"text": str(options.text), **found.to_dict()}, indent=2, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
