"""Perplexity: how well each direction predicts held-out text. Exact: full softmax, every token counts once.

Every sentence starts from a zero state; the forward language model predicts w1..wn, </S> and the backward one
wn..w1, <S>. A word outside the vocabulary counts as <UNK>. No dropout. Nothing is dropped at the end.
The mean is over nats per token of both directions, so its perplexity is the geometric mean of the two.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from elmo.errors import TextError
from elmo.model.bilm import BiLM
from elmo.model.lm_head import LMHead
from elmo.text.batches import bucket, number_tokens, pad
from elmo.text.characters import BEGIN_SENTENCE, END_SENTENCE

UNKNOWN = "<UNK>"


@dataclass(frozen=True)
class SentenceScore:
    """Nats of each prediction, in reading order of the direction: len(sentence) + 1 numbers each."""

    nats: dict[str, np.ndarray]
    num_unknown: int


@dataclass(frozen=True)
class Perplexity:
    """The sums over a text."""

    nats: dict[str, float]
    """Per direction, over all predictions."""
    num_predictions: int
    """Per direction: every token, and one boundary for each sentence."""
    num_sentences: int
    num_unknown: int
    """Tokens outside the vocabulary."""

    def of(self, direction: str) -> float:
        """Perplexity of "forward", "backward", or of their "mean"."""
        nats = sum(self.nats.values()) / len(self.nats) if direction == "mean" else self.nats[direction]
        return math.exp(nats / self.num_predictions)

    def to_dict(self) -> dict[str, float]:
        """For people and programs."""
        tokens = self.num_predictions - self.num_sentences
        return {
            **{f"{name}_perplexity": self.of(name) for name in (*self.nats, "mean")},
            "nats_per_token": sum(self.nats.values()) / len(self.nats) / self.num_predictions,
            "predictions": self.num_predictions,
            "sentences": self.num_sentences,
            "tokens": tokens,
            "unknown_share": self.num_unknown / max(1, tokens),
        }


def evaluate(
    bilm: BiLM,
    head: LMHead,
    sentences: Iterable[Sequence[str]],
    *,
    max_tokens: int = 4096,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Perplexity:
    """Perplexity of a text; empty sentences are left out. `on_progress` gets the number of sentences just done."""
    nats = dict.fromkeys(bilm.config.directions, 0.0)
    predictions = count = unknown = 0
    for score in scores(bilm, head, (sentence for sentence in sentences if len(sentence)), max_tokens=max_tokens):
        for direction, values in score.nats.items():
            nats[direction] += float(values.sum(dtype=np.float64))
        predictions += len(next(iter(score.nats.values())))
        count += 1
        unknown += score.num_unknown
        on_progress(1)
    if count == 0:
        raise TextError("there is no sentence to evaluate: the text is empty. Pass a text with one sentence a line.")
    return Perplexity(nats, predictions, count, unknown)


def scores(
    bilm: BiLM, head: LMHead, sentences: Iterable[Sequence[str]], *, max_tokens: int = 4096, window: int = 2048
) -> Iterator[SentenceScore]:
    """Each sentence's nats, in order; `window` sentences at a time are sorted by length and batched."""
    ids = {word: index for index, word in enumerate(head.vocabulary)}
    iterator = iter(sentences)
    while some := list(itertools.islice(iterator, window)):
        yield from _score_window(bilm, head, ids, some, max_tokens)


@torch.no_grad()
def _score_window(
    bilm: BiLM, head: LMHead, ids: dict[str, int], sentences: list[Sequence[str]], max_tokens: int
) -> list[SentenceScore]:
    tokens, places = number_tokens(sentences, bilm.token_map.boundary_tokens)
    vectors = _token_vectors(bilm, tokens)
    words = [BEGIN_SENTENCE, END_SENTENCE, *tokens[2:]]
    targets = torch.tensor([ids.get(word, ids[UNKNOWN]) for word in words], device=bilm.device)
    result: list[SentenceScore | None] = [None] * len(sentences)
    for rows in bucket([len(line) for line in places], max_tokens):
        batch = pad(places, rows)
        at = torch.from_numpy(batch.places).to(bilm.device)
        output = bilm.contextualize(vectors[at], torch.from_numpy(batch.lengths).to(bilm.device))
        nats = _nats(bilm, head, output.layers[-1], targets[at])
        for i, row in enumerate(rows):
            length = int(batch.lengths[i])
            by_direction = {"forward": slice(0, length - 1), "backward": slice(1, length)}
            found = {name: nats[name][i, by_direction[name]].numpy() for name in nats}
            if "backward" in found:
                found["backward"] = found["backward"][::-1]
            unknown = sum(word not in ids for word in sentences[row])
            result[row] = SentenceScore(found, unknown)
    return [score for score in result if score is not None]


def _token_vectors(bilm: BiLM, tokens: list[str], chunk: int = 4096) -> Tensor:
    parts = []
    for start in range(0, len(tokens), chunk):
        ids = bilm.token_map.ids(tokens[start : start + chunk])
        characters = None if ids.characters is None else torch.from_numpy(ids.characters).to(bilm.device)
        words = None if ids.words is None else torch.from_numpy(ids.words).to(bilm.device)
        parts.append(bilm.token_vectors(characters, words))
    return torch.cat(parts)


def _nats(bilm: BiLM, head: LMHead, top: Tensor, targets: Tensor) -> dict[str, Tensor]:
    """(batch, tokens) per direction: at position t the loss of the next token in reading order."""
    result = {}
    for direction, outputs in zip(bilm.config.directions, top.chunk(len(bilm.lstms), dim=2), strict=True):
        shifted = targets.roll(-1 if direction == "forward" else 1, dims=1)
        nats = head.nats(outputs.flatten(0, 1), shifted.flatten())
        result[direction] = nats.view(targets.shape).cpu()
    return result
