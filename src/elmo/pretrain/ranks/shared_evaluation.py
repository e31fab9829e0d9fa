"""Perplexity of a held-out text whose sentences the ranks share out among themselves.

Sentences are scored one by one from a zero state, so who scores them changes nothing but the order of a float64 sum.
"""

import itertools
from collections.abc import Iterable, Sequence

import torch

from elmo.lm.figures import Perplexity, Sums
from elmo.lm.language_model import LanguageModel, Poll
from elmo.lm.perplexity import scores, sums, total
from elmo.pretrain.ranks.distributed import Ranks
from elmo.process.progress.report import SILENT, Count, Progress
from elmo.process.stop_flag import StopRequested

# After so many sentences each, the ranks tell each other whether one was asked to stop.
_SENTENCES_A_ROUND = 256


def evaluate_together(
    model: LanguageModel,
    sentences: Iterable[Sequence[str]],
    count: int,
    ranks: Ranks,
    *,
    progress: Progress = SILENT,
    what: str = "scoring",
    poll: Poll = lambda: None,
) -> Perplexity:
    """`evaluate` by all ranks of a run, which call it together; `count`: how many sentences there are, none empty.

    `progress`: receives the sentences that are scored, as the stage `what`.

    `poll` may raise StopRequested on any rank: after at most 256 more sentences it is then raised on all of them.
    """
    scored = Count(progress, what, count, "sentences")
    if ranks.size == 1:
        return total(scored.each(scores(model, sentences, poll=poll)))
    own = itertools.islice(sentences, ranks.rank, None, ranks.size)
    directions = model.config.directions
    so_far = torch.from_numpy(Sums(directions).vector())
    for _ in range(-(-count // (ranks.size * _SENTENCES_A_ROUND))):
        some = list(itertools.islice(own, _SENTENCES_A_ROUND))
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
