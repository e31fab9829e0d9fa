"""The sense of a test word by its nearest neighbors in a training corpus, layer by layer.

`NearestSense`: the nearest prototype, the mean vector of each sense. Source: Peters et al. 2018, section 5.3; Melamud
et al. 2016. A word's candidates are the senses seen with its lemma and part of speech in training; an unseen word gets
the dictionary's first sense.

`TrainingInstances`: the k nearest training instances vote, weighted by their cosines; k is chosen on a development set.
Where a sense's instances are far apart, their mean is near none of them; a vote needs no mean.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import tee

import numpy as np
from jaxtyping import Float

from elmo.analysis.neighbors.context_index import unit
from elmo.embed.encoder import Encoder, token_layers
from elmo_paper.analysis.measures import EQUAL, votes
from elmo_paper.analysis.senses.inventory import Inventory, SeenSenses, Word, most_frequent_or_first
from elmo_paper.analysis.senses.raganato import AnnotatedSentence, Instance

# Cosines that differ by less are equal: a sum of the same vectors is rounded differently by how many there are.
_EQUAL = 1e-6


VOTERS = (1, 3, 5, 10, 20)
"""The numbers of neighbors that are tried."""

InstanceVectors = tuple[AnnotatedSentence, Instance, Float[np.ndarray, "layers dim"]]


@dataclass(frozen=True)
class Prototypes:
    """Unit mean vectors of all senses of a training corpus."""

    rows: Mapping[tuple[Word, str], int]
    """(word, sense) -> row."""
    vectors: Float[np.ndarray, "senses layers dim"]


def instance_vectors(sentences: Iterable[AnnotatedSentence], encoder: Encoder) -> Iterator[InstanceVectors]:
    """Each instance with its vectors: the mean over its tokens. Streamed, one window of sentences at a time."""
    ours, theirs = tee(sentences)
    embedded = token_layers(encoder, (sentence.tokens for sentence in theirs))
    for sentence, layers in zip(ours, embedded, strict=True):
        for instance in sentence.instances:
            yield sentence, instance, layers[:, instance.start : instance.end].mean(axis=1)


def train(
    instances: Iterable[InstanceVectors],
    keys: Mapping[str, tuple[str, ...]],
    seen: SeenSenses,
    encoder: Encoder,
) -> Prototypes:
    """Adds up the vectors of each sense, as `instance_vectors` gives them for a training corpus. An instance of several
    senses counts for each."""
    pairs = ((word, sense) for word, senses in seen.counts.items() for sense in senses)
    rows = {pair: row for row, pair in enumerate(pairs)}
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

    def answer(self, word: Word, vectors: Float[np.ndarray, "layers dim"]) -> list[str | None]:
        """The sense whose prototype has the highest cosine in each layer.

        Layer 0 doesn't depend on the sentence, so senses can be equally near there: then the more frequent sense in the
        training corpus is taken.
        """
        counts = self.seen.counts.get(word)
        if not counts:
            return [self.inventory.first_sense(word)] * len(vectors)
        # A stable sort: of equally frequent senses the one seen first stays first.
        candidates = sorted(counts, key=counts.__getitem__, reverse=True)
        rows = [self.prototypes.rows[word, sense] for sense in candidates]
        cosines = np.einsum("sld,ld->ls", self.prototypes.vectors[rows], unit(vectors))
        nearest = cosines >= cosines.max(axis=1, keepdims=True) - _EQUAL
        return [candidates[place] for place in nearest.argmax(axis=1)]


@dataclass
class TrainingInstances:
    """The unit vectors of words of several senses, half precision, and the senses of each."""

    seen: SeenSenses
    inventory: Inventory
    _vectors: dict[Word, list[np.ndarray]] = field(default_factory=dict)
    _senses: dict[Word, list[tuple[str, ...]]] = field(default_factory=dict)

    def collected(
        self, instances: Iterable[InstanceVectors], keys: Mapping[str, tuple[str, ...]]
    ) -> Iterator[InstanceVectors]:
        """Passes instances on and remembers those that can vote."""
        for sentence, instance, vectors in instances:
            word = instance.lemma, instance.pos
            if instance.id in keys and len(self.seen.counts.get(word, ())) > 1:
                self._vectors.setdefault(word, []).append(unit(vectors).astype(np.float16))
                self._senses.setdefault(word, []).append(keys[instance.id])
            yield sentence, instance, vectors

    def answers(self, word: Word, vectors: Float[np.ndarray, "layers dim"]) -> list[list[str | None]]:
        """For each number of voters, the answer of each layer.

        A word of one sense has that sense, an unseen one the dictionary's first. Where several instances are as near as
        the last voter, each has an equal share of the votes that are left. Equal votes go to the more frequent sense.
        """
        stored = self._vectors.get(word)
        if stored is None:
            only = most_frequent_or_first(word, self.seen, self.inventory)
            return [[only] * len(vectors) for _ in VOTERS]
        cosines = np.einsum("nld,ld->ln", np.stack(stored).astype(np.float32), unit(vectors))
        return [[self._vote(word, of_layer, k) for of_layer in cosines] for k in VOTERS]

    def _vote(self, word: Word, cosines: Float[np.ndarray, " instances"], k: int) -> str:
        found: dict[str, float] = {}
        shares = votes(cosines, k)
        for voter in np.flatnonzero(shares):
            for sense in self._senses[word][voter]:
                found[sense] = found.get(sense, 0.0) + float(shares[voter] * cosines[voter])
        counts, most = self.seen.counts[word], max(found.values()) - EQUAL
        return max((sense for sense in found if found[sense] >= most), key=counts.__getitem__)
