"""HeldOut: a text whose perplexity is followed during training."""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from elmo.corpus.shards import TrainingData
from elmo.text.sentences import read_sentences


@dataclass(frozen=True)
class HeldOut:
    """A text, read anew for each evaluation."""

    name: str
    """Its name in metrics.jsonl: "valid", or "old" for the text of the domain a model was trained on."""
    pick: Callable[[int], Iterator[list[str]]]
    """The text's sentences, evenly picked if there are more than this many; 0: all."""
    num_sentences: int
    """Sentences it has."""

    def count(self, limit: int = 0) -> int:
        """How many sentences `pick(limit)` gives."""
        return -(-self.num_sentences // _stride(self.num_sentences, limit))


def validation(data: TrainingData) -> HeldOut | None:
    """The validation text of prepared data, if it has one."""
    if "valid" not in data.splits or not data.num_sentences("valid"):
        return None
    return HeldOut("valid", lambda limit: validation_sentences(data, limit), data.num_sentences("valid"))


def text_file(name: str, path: Path) -> HeldOut:
    """A text of one tokenized sentence a line; blank lines are left out. Raises TextError if it can't be read."""
    count = sum(1 for sentence in read_sentences(path) if sentence)

    def pick(limit: int) -> Iterator[list[str]]:
        sentences = (sentence for sentence in read_sentences(path) if sentence)
        return itertools.islice(sentences, 0, None, _stride(count, limit))

    return HeldOut(name, pick, count)


def validation_sentences(data: TrainingData, limit: int) -> Iterator[list[str]]:
    """The validation text's sentences, evenly picked if there are more than `limit` (0: all)."""
    types = data.types()
    shards = ((shard, index) for shard in data.shards("valid") for index in range(shard.num_sentences))
    for shard, index in itertools.islice(shards, 0, None, _stride(data.num_sentences("valid"), limit)):
        yield [types[token] for token in shard.sentence(index)]


def _stride(total: int, limit: int) -> int:
    return max(1, math.ceil(total / limit)) if limit else 1
