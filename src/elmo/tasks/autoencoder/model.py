"""The sequence autoencoder. Source: Dai and Le 2015, section 2.

                       w1  w2  ...  wn   </S>     what is to be predicted
                       |   |        |    |        softmax
<S> w1 w2 ... wn       |   |        |    |        one forward language model, which first reads
    and then      </S> w1  w2  ...  wn            and then reproduces, from nothing but its state
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from elmo.ops.full_softmax import full_softmax_mean
from elmo.ops.sampled_softmax import LogUniformSampler, SoftmaxRows, sampled_softmax_mean
from elmo.tasks.autoencoder.settings import AutoencoderSettings
from elmo.tasks.autoencoder.task import read_and_reproduced
from elmo.tasks.layers.linear import linear
from elmo.tasks.task import Vocabulary
from elmo.tasks.task_model import TaskModel
from elmo.tasks.tokens.representation import TokenRepresentation
from elmo.tasks.unlabelled import TextLine
from elmo.text.characters import END_SENTENCE


class Reproduced(NamedTuple):
    """A sentence as it was reproduced, each token after the right ones before it."""

    tokens: list[str]
    """The most probable one in each place, the end of the sentence included."""
    num_right: int
    nats: float
    """Of the right tokens, summed."""


class States(NamedTuple):
    """What the language model knows before each token that it is to predict."""

    before: Float[Tensor, "targets dim"]
    gold: Int[Tensor, " targets"]
    """The number of the token."""


class Autoencoder(TaskModel[TextLine, Reproduced]):
    """Sentences -> themselves."""

    def __init__(self, settings: AutoencoderSettings, vocabulary: Vocabulary, tokens: TokenRepresentation) -> None:
        """`vocabulary`: "words", the unknown word first and the end of the sentence second, then by frequency.

        Raises ConfigError if the encoder isn't a forward language model: another one would see what it is to predict.
        """
        super().__init__()
        tokens.require_forward("the task 'autoencoder'")
        self.tokens = tokens
        self.words = list(vocabulary["words"])
        self._numbers = {word: number for number, word in enumerate(self.words)}
        self.softmax = linear(tokens.require_input(), len(self.words))
        self.num_samples = min(settings.num_negative_samples, len(self.words))

    def forward(self, examples: Sequence[TextLine]) -> States:
        """Of all reproduced sentences, one after the other."""
        sentences = [example.tokens for example in examples]
        states = self.tokens([read_and_reproduced(sentence) for sentence in sentences]).input
        parts = [row[len(own) : 2 * len(own) + 1] for row, own in zip(states, sentences, strict=True)]
        gold = [self._numbers.get(word, 0) for sentence in sentences for word in (*sentence, END_SENTENCE)]
        return States(torch.cat(parts), torch.tensor(gold, device=states.device))

    def loss_of(self, outputs: States, examples: Sequence[TextLine]) -> Float[Tensor, ""]:
        """Nats per token; in training those of the sampled softmax."""
        before, gold = outputs
        weight, bias = self.softmax.weight, self.softmax.bias
        if not self.training or self.num_samples in (0, len(self.words)):
            return full_softmax_mean(before, gold, weight, bias)
        sampler = LogUniformSampler(len(self.words), self.num_samples)
        # Of torch's own state, which `fit` sets in each step, so that a resumed training draws the same.
        sample = sampler.draw(np.random.default_rng(int(torch.randint(1 << 62, (), device="cpu"))))

        def rows(ids: Int[Tensor, " words"]) -> SoftmaxRows:
            return SoftmaxRows(weight[ids], bias[ids], sampler.log_probability(ids, sample.num_draws))

        negatives = sample.ids.to(gold.device)
        return sampled_softmax_mean(before, gold, rows(gold), negatives, rows(negatives))

    def num_averaged(self, examples: Sequence[TextLine]) -> int:
        """The tokens, and the end of each sentence."""
        return sum(len(example.tokens) + 1 for example in examples)

    def decide(self, outputs: Sequence[States], examples: Sequence[TextLine]) -> list[Reproduced]:
        """Of one model: each token by itself, the ones before it given."""
        ((before, gold),) = outputs
        logits = self.softmax(before)
        nats = torch.nn.functional.cross_entropy(logits, gold, reduction="none")
        best = logits.argmax(dim=1)
        lengths = [len(example.tokens) + 1 for example in examples]
        return [
            Reproduced([self.words[int(number)] for number in own.tolist()], int(right.sum()), math.fsum(cost.tolist()))
            for own, right, cost in zip(
                best.split(lengths), (best == gold).split(lengths), nats.split(lengths), strict=True
            )
        ]
