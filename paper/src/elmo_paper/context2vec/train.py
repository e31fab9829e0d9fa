"""Training context2vec on a text.

Source: Melamud et al. 2016, section 3.2; docs/specification-tasks.md, 9.2. All sentences of a step have the same
length, so that nothing is padded; their order is drawn anew in every epoch.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from elmo.errors import ConfigError, TextError
from elmo.process.progress.report import Count, Progress, following
from elmo.process.torch_settings import training_torch
from elmo.shapes import Float, Int
from elmo.static.training.corpus import Corpus, count_words
from elmo_paper.context2vec.files import SPECIAL_WORDS, Sizes
from elmo_paper.context2vec.network import UNKNOWN_ID, Context2Vec, negative_sampling_loss
from elmo_paper.context2vec.settings import Context2VecSettings

_POWER = 0.75


@dataclass(frozen=True)
class TrainedContext2Vec:
    """The result of a training."""

    network: Context2Vec
    words: tuple[str, ...]
    losses: tuple[float, ...]
    """Nats per token, the mean of each epoch."""
    num_sentences: int
    num_tokens: int
    seconds: float

    def tensors(self) -> dict[str, np.ndarray]:
        """For `weights.context2vec.write`."""
        return {name: tensor.numpy() for name, tensor in self.network.state_dict().items()}


@dataclass(frozen=True)
class NumberedText:
    """The sentences of a text as word ids, one after the other, the short ones first."""

    word_ids: Int[np.ndarray, " tokens"]
    starts: Int[np.ndarray, " sentences"]
    lengths: Int[np.ndarray, " sentences"]
    """Ascending."""

    def batches(self, size: int, random: np.random.Generator) -> Iterator[Int[np.ndarray, "batch tokens"]]:
        """All sentences once, `size` or fewer of equal length at a time, in random order."""
        groups = np.split(np.arange(len(self.lengths)), np.flatnonzero(np.diff(self.lengths)) + 1)
        chosen = [
            places
            for group in groups
            for places in np.split(random.permutation(group), np.arange(size, len(group), size))
        ]
        for number in random.permutation(len(chosen)):
            places = chosen[number]
            yield self.word_ids[self.starts[places][:, None] + np.arange(int(self.lengths[places[0]]))]


@training_torch()
def train_context2vec(
    corpus: Corpus, settings: Context2VecSettings, *, progress: Progress | bool = False
) -> TrainedContext2Vec:
    """Counts the words and trains the network.

    `progress`: receives the bytes that are read and the tokens that are trained on; True: bars on stderr.
    Raises TextError for a text without sentences of fitting length, ConfigError if the training diverges.
    """
    begun = time.perf_counter()
    corpus.lower_case = settings.lower_case
    with following(progress) as reported, torch.random.fork_rng(devices=[]):
        counts, _ = count_words(corpus, settings.min_count, 0, reported)
        counts = {word: count for word, count in counts.items() if word not in SPECIAL_WORDS}
        words = (*SPECIAL_WORDS, *counts)
        text = numbered(corpus, words, settings.longest)
        torch.manual_seed(settings.seed)
        network = Context2Vec(Sizes(len(words), settings.unit, settings.deep))
        losses = tuple(_trained(network, text, settings, reported))
    num_tokens = len(text.word_ids)
    return TrainedContext2Vec(network.eval(), words, losses, len(text.lengths), num_tokens, time.perf_counter() - begun)


def numbered(corpus: Corpus, words: tuple[str, ...], longest: int) -> NumberedText:
    """The sentences of 2 to `longest` tokens; words that are not among `words` become the unknown word."""
    rows = {word: row for row, word in enumerate(words) if word not in SPECIAL_WORDS}
    sentences = [
        np.array([rows.get(word, UNKNOWN_ID) for word in sentence], dtype=np.int32)
        for sentence in corpus.sentences()
        if 2 <= len(sentence) <= longest
    ]
    if not sentences:
        raise TextError(f"{corpus.texts[0]}: has no sentence of 2 to {longest} tokens. Give another text.")
    sentences.sort(key=len)
    lengths = np.array([len(sentence) for sentence in sentences])
    return NumberedText(np.concatenate(sentences), np.cumsum(lengths) - lengths, lengths)


def negative_probabilities(word_ids: Int[np.ndarray, " tokens"], num_words: int) -> Float[np.ndarray, " words"]:
    """The chance of each word to be drawn: its share of the text to the power 0.75, of all such shares."""
    powers = np.bincount(word_ids, minlength=num_words).astype(np.float64) ** _POWER
    return powers / powers.sum()


def _trained(
    network: Context2Vec, text: NumberedText, settings: Context2VecSettings, progress: Progress
) -> Iterator[float]:
    random = np.random.default_rng(settings.seed)
    chances = np.cumsum(negative_probabilities(text.word_ids, network.sizes.num_words))
    parameters = [parameter for parameter in network.parameters() if parameter.requires_grad]
    optimizer = torch.optim.Adam(parameters, lr=settings.learning_rate, fused=True)
    trained = Count(progress, "training", settings.epochs * len(text.word_ids), "tokens")
    for _ in range(settings.epochs):
        nats = 0.0
        for batch in text.batches(settings.batch_sentences, random):
            drawn = np.searchsorted(chances, random.random((*batch.shape, settings.negatives)), side="right")
            negatives = torch.from_numpy(np.minimum(drawn, len(chances) - 1))
            loss = negative_sampling_loss(network, torch.from_numpy(batch.astype(np.int64)), negatives)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, settings.clip_norm)
            optimizer.step()
            if not math.isfinite(loss.item()):
                raise ConfigError("the loss is not finite: the training diverged. Choose a smaller --learning-rate.")
            nats += loss.item()
            trained.add(batch.size)
        yield nats / len(text.word_ids)
