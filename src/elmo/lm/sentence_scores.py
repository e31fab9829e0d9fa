"""Sentence scores: how probable each language model finds a sentence, to rank sentences by.

A direction's log-probability is the sum of ln p over its predictions: the forward language model's probabilities
multiply to p(w1, ..., wn, </S>), the backward one's to p(wn, ..., w1, <S>). Every sentence starts from a zero state.
Source: paper section 3.1.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from elmo.lm import perplexity
from elmo.lm.language_model import LanguageModel


@dataclass(frozen=True)
class SentenceLogProbability:
    """One sentence's score; longer sentences are less probable, so compare lengths with `per_prediction`."""

    log_probability: dict[str, float]
    """Per direction, in nats, at most 0."""
    num_tokens: int
    num_unknown: int
    """Tokens outside the vocabulary: each counts as <UNK>, which is often too probable."""

    @property
    def mean(self) -> float:
        """The mean over the directions, in nats."""
        return sum(self.log_probability.values()) / len(self.log_probability)

    @property
    def per_prediction(self) -> float:
        """`mean` divided by the tokens and the boundary: -ln of the sentence's perplexity."""
        return self.mean / (self.num_tokens + 1)

    def to_dict(self) -> dict[str, Any]:
        """For people and programs."""
        return {
            **self.log_probability,
            "mean": self.mean,
            "per_prediction": self.per_prediction,
            "tokens": self.num_tokens,
            "unknown": self.num_unknown,
        }


def sentence_scores(
    model: LanguageModel, sentences: Iterable[Sequence[str]], *, max_tokens: int = 4096
) -> Iterator[SentenceLogProbability]:
    """One score for each sentence, in order, an empty one included. Memory: some 2,000 sentences at a time."""
    for score in perplexity.scores(model, sentences, max_tokens=max_tokens):
        nats = {direction: -float(values.sum(dtype="float64")) for direction, values in score.nats.items()}
        yield SentenceLogProbability(nats, len(next(iter(score.nats.values()))) - 1, score.num_unknown)
