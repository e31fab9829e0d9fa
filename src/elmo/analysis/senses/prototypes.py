"""Prototypes: the mean vector of each sense in a training corpus, layer by layer; a test word takes the nearest one.

Source: Peters et al. 2018, section 5.3; Melamud et al. 2016. A word's candidates are the senses seen with its lemma and
part of speech in training; a word that wasn't seen gets the dictionary's first sense.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import tee

import numpy as np
from jaxtyping import Float

from elmo.analysis.encoders import token_layers
from elmo.analysis.senses.baselines import SeenSenses
from elmo.analysis.senses.inventory import Inventory, Word
from elmo.analysis.senses.raganato import AnnotatedSentence, Instance
from elmo.analysis.unit_vectors import unit
from elmo.embed.encoder import Encoder

# Cosines that differ by less are equal: a sum of the same vectors is rounded differently by how many there are.
_EQUAL = 1e-6


@dataclass(frozen=True)
class Prototypes:
    """Unit mean vectors of all senses of a training corpus."""

    rows: Mapping[tuple[Word, str], int]
    """(word, sense) -> row."""
    vectors: Float[np.ndarray, "senses layers dim"]


@dataclass(frozen=True)
class Answer:
    """What the nearest prototype says, for each layer."""

    senses: tuple[str | None, ...]
    ties: tuple[bool, ...]
    """Whether another sense was equally near, so that the more frequent one was taken."""


def instance_vectors(
    sentences: Iterable[AnnotatedSentence], encoder: Encoder
) -> Iterator[tuple[AnnotatedSentence, Instance, Float[np.ndarray, "layers dim"]]]:
    """Each instance with its vectors: the mean over its tokens. Streamed, one window of sentences at a time."""
    ours, theirs = tee(sentences)
    embedded = token_layers(encoder, (sentence.tokens for sentence in theirs))
    for sentence, layers in zip(ours, embedded, strict=True):
        for instance in sentence.instances:
            yield sentence, instance, layers[:, instance.start : instance.end].mean(axis=1)


def train(
    instances: Iterable[tuple[AnnotatedSentence, Instance, Float[np.ndarray, "layers dim"]]],
    keys: Mapping[str, tuple[str, ...]],
    seen: SeenSenses,
    encoder: Encoder,
) -> Prototypes:
    """Adds up the vectors of each sense, as `instance_vectors` gives them for a training corpus. An instance of several
    senses counts for each."""
    rows = {(word, sense): row for row, (word, sense) in enumerate(_pairs(seen))}
    sums = np.zeros((len(rows), encoder.num_layers, encoder.layer_dim), dtype=np.float32)
    for _, instance, vectors in instances:
        for sense in keys.get(instance.id, ()):
            sums[rows[(instance.lemma, instance.pos), sense]] += vectors
    return Prototypes(rows, unit(sums))


@dataclass(frozen=True)
class NearestSense:
    """Disambiguates words by the nearest prototype."""

    prototypes: Prototypes
    seen: SeenSenses
    inventory: Inventory

    def answer(self, word: Word, vectors: Float[np.ndarray, "layers dim"]) -> Answer:
        """The sense whose prototype has the highest cosine in each layer.

        Layer 0 doesn't depend on the sentence, so senses can be equally near there: then the more frequent sense in the
        training corpus is taken, and the tie is reported.
        """
        counts = self.seen.counts.get(word)
        if not counts:
            first = self.inventory.first_sense(word)
            return Answer((first,) * len(vectors), (False,) * len(vectors))
        # A stable sort: of equally frequent senses the one seen first stays first.
        candidates = sorted(counts, key=counts.__getitem__, reverse=True)
        rows = [self.prototypes.rows[word, sense] for sense in candidates]
        cosines = np.einsum("sld,ld->ls", self.prototypes.vectors[rows], unit(vectors))
        nearest = cosines >= cosines.max(axis=1, keepdims=True) - _EQUAL
        ties = nearest.sum(axis=1) > 1
        return Answer(tuple(candidates[place] for place in nearest.argmax(axis=1)), tuple(map(bool, ties)))


def _pairs(seen: SeenSenses) -> Iterator[tuple[Word, str]]:
    return ((word, sense) for word, senses in seen.counts.items() for sense in senses)
