"""Perplexity of a held-out text whose sentences the ranks share out among themselves.

Sentences are scored one by one from a zero state, so who scores them changes nothing but the order of a float64 sum.
"""

import itertools
from collections.abc import Callable, Iterable, Sequence

import torch

from elmo.lm.figures import Perplexity, Sums
from elmo.lm.language_model import LanguageModel, Poll
from elmo.lm.perplexity import evaluate, scores, sums
from elmo.pretrain.ranks.distributed import Ranks
from elmo.process.stop_flag import StopRequested

# After so many sentences each, the ranks tell each other whether one was asked to stop.
_SENTENCES_A_ROUND = 256


def evaluate_together(
    model: LanguageModel,
    sentences: Iterable[Sequence[str]],
    count: int,
    ranks: Ranks,
    *,
    on_progress: Callable[[int], object] = lambda _: None,
    poll: Poll = lambda: None,
) -> Perplexity:
    """`evaluate` by all ranks of a run, which call it together; `count`: how many sentences there are, none empty.

    `poll` may raise StopRequested on any rank: after at most 256 more sentences it is then raised on all of them.
    """
    if ranks.size == 1:
        return evaluate(model, sentences, on_progress=on_progress, poll=poll)
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
        on_progress(len(some) * ranks.size)
    return Sums.of_vector(ranks.add_up_(so_far).numpy(), directions).perplexity()
