"""k nearest neighbors: the senses of a test word's nearest training instances vote, weighted by their cosines.

Where a sense's instances lie apart, their mean is near to none of them; a vote doesn't need a mean. How many vote is
chosen on a development set.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from elmo.analysis.senses.baselines import SeenSenses
from elmo.analysis.senses.inventory import Inventory, Word
from elmo.analysis.senses.raganato import AnnotatedSentence, Instance
from elmo.analysis.unit_vectors import unit

VOTERS = (1, 3, 5, 10, 20)
"""The numbers of neighbors that are tried."""

# Cosines that differ by less are equal: half precision of the stored vectors, and rounding of the products.
_EQUAL = 1e-5

InstanceVectors = tuple[AnnotatedSentence, Instance, Float[np.ndarray, "layers dim"]]


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
            only = self.seen.most_frequent(word) or self.inventory.first_sense(word)
            return [[only] * len(vectors) for _ in VOTERS]
        cosines = np.einsum("nld,ld->ln", np.stack(stored).astype(np.float32), unit(vectors))
        return [[self._vote(word, of_layer, k) for of_layer in cosines] for k in VOTERS]

    def _vote(self, word: Word, cosines: Float[np.ndarray, " instances"], k: int) -> str:
        votes: dict[str, float] = {}
        shares = _shares(cosines, k)
        for voter in np.flatnonzero(shares):
            for sense in self._senses[word][voter]:
                votes[sense] = votes.get(sense, 0.0) + float(shares[voter] * cosines[voter])
        counts, most = self.seen.counts[word], max(votes.values()) - _EQUAL
        return max((sense for sense in votes if votes[sense] >= most), key=counts.__getitem__)


def _shares(cosines: Float[np.ndarray, " instances"], k: int) -> Float[np.ndarray, " instances"]:
    """How many votes each instance has: 1 for the nearest ones, a share for those as near as the `k`-th, else 0."""
    k = min(k, len(cosines))
    last = -np.partition(-cosines, k - 1)[k - 1]
    nearer, equal = cosines > last + _EQUAL, np.abs(cosines - last) <= _EQUAL
    return nearer + equal * ((k - nearer.sum()) / equal.sum())
