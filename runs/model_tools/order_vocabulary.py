"""A model's vocabulary in another text's order of frequency, which the sampled softmax of a further training needs.

    python runs/model_tools/order_vocabulary.py DATA OUT.txt

DATA is what `elmo prepare` made of the text with the model's vocabulary. Prepare it again with OUT.txt, and give the
model its rows in that order: runs/model_tools/grow_vocabulary.py.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from elmo.corpus.shards import TrainingData
from elmo.errors import ElmoError
from elmo.text.vocabulary import SPECIAL_WORDS


def ordered(data: TrainingData) -> list[str]:
    """The entries by descending frequency in the training text, after the special ones; ties as they were."""
    counts = np.bincount(data.type_words, weights=data.type_counts, minlength=len(data.vocabulary))
    counts[: len(SPECIAL_WORDS)] = np.inf
    return [data.vocabulary.words[entry] for entry in np.argsort(-counts, kind="stable")]


def main(arguments: Sequence[str] | None = None) -> int:
    """0: written; 2: something can't be read."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("output", type=Path)
    options = parser.parse_args(arguments)
    try:
        entries = ordered(TrainingData.open(options.data))
        options.output.write_text("".join(f"{entry}\n" for entry in entries), encoding="utf-8", newline="\n")
    except (ElmoError, OSError) as error:
        print(f"order_vocabulary: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
