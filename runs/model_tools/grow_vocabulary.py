"""A model that predicts another vocabulary, to be trained on with `elmo finetune`.

    python runs/model_tools/grow_vocabulary.py MODEL DATA OUT

DATA is what `elmo prepare` made with the new vocabulary. The network stays as it is, and so do the softmax's rows of
words in both vocabularies. A new entry begins as a share of `<UNK>`, which stood for its tokens so far: it gets that
row, and in the bias the logarithm of its share of all tokens that `<UNK>` stood for in DATA's training text.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from elmo.corpus.shards import TrainingData
from elmo.errors import ElmoError, WeightFileError
from elmo.text.vocabulary import UNKNOWN, TargetIds
from elmo.weights import formats, hub
from elmo.weights.checkpoint import Checkpoint
from elmo.weights.native.write import write


def grown(model: Checkpoint, data: TrainingData) -> Checkpoint:
    """`model` with the data's vocabulary. Raises WeightFileError for a model without a softmax, or with clusters."""
    if model.softmax is None or model.vocabulary is None or set(model.softmax) != {"weight", "bias"}:
        raise WeightFileError("the model has no plain softmax whose rows could be taken over. Pretrain a new one.")
    entries = data.vocabulary.words
    rows = {word: row for row, word in enumerate(model.vocabulary)}
    taken = np.array([rows.get(entry, rows[UNKNOWN]) for entry in entries])
    bias = model.softmax["bias"][taken].astype(np.float32)
    new = np.array([entry not in rows or entry == UNKNOWN for entry in entries])
    bias[new] += np.log(_shares(TargetIds(model.vocabulary), data)[new])
    softmax = {"weight": model.softmax["weight"][taken].astype(np.float32), "bias": bias}
    return replace(model, vocabulary=list(entries), softmax=softmax, warm_state=None, metadata={})


def _shares(old_targets: TargetIds, data: TrainingData) -> np.ndarray:
    """(entries,) how large a share of the old `<UNK>` each entry of the new vocabulary is, half a token at least."""
    was_unknown = np.array([old_targets.id(word) == old_targets.unknown for word in data.types()])
    counts = np.where(was_unknown, data.type_counts, 0)
    tokens = np.bincount(data.type_words, weights=counts, minlength=len(data.vocabulary))
    return np.maximum(tokens, 0.5) / max(1, counts.sum())


def main(arguments: Sequence[str] | None = None) -> int:
    """0: written; 2: something can't be read."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    for name in ("model", "data", "output"):
        parser.add_argument(name)
    options = parser.parse_args(arguments)
    try:
        model = formats.read(hub.resolve(options.model))
        write(grown(model, TrainingData.open(Path(options.data))), Path(options.output))
    except (ElmoError, OSError) as error:
        print(f"grow_vocabulary: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
