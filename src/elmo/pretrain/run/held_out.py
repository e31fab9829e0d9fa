"""HeldOut: a text whose perplexity is followed during training, evaluated by all ranks together."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from elmo.corpus.shards import TrainingData
from elmo.lm.language_model import LanguageModel, Poll
from elmo.lm.perplexity import scores, sums, total
from elmo.lm.sums import Perplexity, Sums
from elmo.pretrain.ranks.distributed import Ranks
from elmo.process.progress.report import Count, Progress
from elmo.process.stop_flag import StopRequested
from elmo.text.first_look.sample import opened
from elmo.text.reading.as_trained import plain_marks
from elmo.text.reading.settings import Reading

# After this many sentences each, the ranks exchange whether one was asked to stop.
_SENTENCES_PER_ROUND = 256


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


def text_file(name: str, path: Path, vocabulary: Sequence[str]) -> HeldOut:
    """A text, read as `elmo perplexity` does by default, for a model with this vocabulary. Raises TextError if it can't
    be read."""
    marks = plain_marks(vocabulary)

    def sentences() -> Iterator[list[str]]:
        _, found = opened([path], Reading(), marks=marks)
        return (sentence.tokens for sentence in found if sentence.tokens)

    count = sum(1 for _ in sentences())
    return HeldOut(name, lambda limit: itertools.islice(sentences(), 0, None, _stride(count, limit)), count)


def validation_sentences(data: TrainingData, limit: int) -> Iterator[list[str]]:
    """The validation text's sentences, evenly picked if there are more than `limit` (0: all)."""
    types = data.types()
    shards = ((shard, index) for shard in data.shards("valid") for index in range(shard.num_sentences))
    for shard, index in itertools.islice(shards, 0, None, _stride(data.num_sentences("valid"), limit)):
        yield [types[token] for token in shard.sentence(index)]


def _stride(total: int, limit: int) -> int:
    return max(1, math.ceil(total / limit)) if limit else 1


def evaluate_together(
    model: LanguageModel, text: HeldOut, limit: int, ranks: Ranks, *, progress: Progress, poll: Poll
) -> Perplexity:
    """The perplexity of about `limit` sentences (0: all) of a text, by all ranks of a run, which call it together.

    How sentences are shared out changes only the order of a float64 sum. `progress`: receives the sentences that are
    scored. If `poll` raises StopRequested on a rank, all ranks soon raise it.
    """
    sentences, count = text.pick(limit), text.count(limit)
    scored = Count(progress, f"evaluating on {text.name}", count, "sentences")
    if ranks.size == 1:
        return total(scored.each(scores(model, sentences, poll=poll)))
    own = itertools.islice(sentences, ranks.rank, None, ranks.size)
    directions = model.config.directions
    so_far = torch.from_numpy(Sums(directions).vector())
    for _ in range(-(-count // (ranks.size * _SENTENCES_PER_ROUND))):
        some = list(itertools.islice(own, _SENTENCES_PER_ROUND))
        stopped = False
        try:
            if some:
                so_far += torch.from_numpy(sums(scores(model, some, poll=poll)).vector())
        except StopRequested:
            stopped = True
        if ranks.largest(int(stopped)):
            raise StopRequested
        scored.add(min(len(some) * ranks.size, count - scored.done))
    return Sums.of_vector(ranks.add_up_(so_far).numpy(), directions).perplexity()
