"""The softmax over the vocabulary in numpy: how probable a language model finds each word.

The logits of all words are never held together: blocks of targets and words go through the processor's cache, and a
running maximum and sum hold what was seen. An adaptive softmax is one softmax for frequent words and clusters, and one
within each cluster that has a target. `ops/full_softmax` and `ops/adaptive_softmax` are the same in torch, plainly.
Source: bilm-tf `bilm/training.py`; for clusters Grave et al. 2017.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from elmo.shapes import Float, Int

_TARGETS, _WORDS = 256, 2048  # logits of a block: 2 MB in float32


class _Part(NamedTuple):
    """One softmax: of the frequent words and the clusters, or within a cluster."""

    weight: Float[np.ndarray, "words dim"]
    bias: Float[np.ndarray, " words"]
    projection: Float[np.ndarray, "dim projection"] | None = None

    def inputs(self, outputs: Float[np.ndarray, "targets projection"]) -> Float[np.ndarray, "targets dim"]:
        return outputs if self.projection is None else outputs @ self.projection.T


class Softmax:
    """Outputs of one direction -> log-probabilities. Any number of threads may call it at once.

    `tensors`: as in `Checkpoint.softmax`; they must not be changed afterwards.
    """

    def __init__(self, tensors: Mapping[str, np.ndarray]) -> None:
        self._first = _Part(tensors["weight"], tensors["bias"])
        self._clusters: list[_Part] = []
        while (prefix := f"clusters.{len(self._clusters)}.") + "weight" in tensors:
            self._clusters.append(_Part(*(tensors[prefix + name] for name in _Part._fields)))
        self._num_frequent = len(self._first.bias) - len(self._clusters)

    def nats(
        self,
        outputs: Float[np.ndarray, "targets projection"],
        target_ids: Int[np.ndarray, " targets"],
        poll: Callable[[], object] = lambda: None,
    ) -> Float[np.ndarray, " targets"]:
        """-ln p of each target, float32. `poll` is called every few hundred targets and may raise to end it."""
        nats = np.zeros(len(outputs))
        for which, part, entries in self._shares(target_ids):
            inputs = part.inputs(outputs[which])
            for start in range(0, len(inputs), _TARGETS):
                poll()
                some = slice(start, start + _TARGETS)
                nats[which[some]] += _nats(part, inputs[some], entries[some])
        return nats.astype(np.float32)

    def log_probabilities(
        self, outputs: Float[np.ndarray, "targets projection"]
    ) -> Float[np.ndarray, "targets vocabulary"]:
        """ln p of every word in the order of the vocabulary, float64: 8 bytes for each word of each target."""
        first, *clusters = (
            log_softmax(part.inputs(outputs) @ part.weight.T + part.bias) for part in (self._first, *self._clusters)
        )
        entries = first[:, self._num_frequent :].T
        within = [entry[:, None] + words for entry, words in zip(entries, clusters, strict=True)]
        return np.concatenate([first[:, : self._num_frequent], *within], axis=1)

    def _shares(
        self, target_ids: Int[np.ndarray, " targets"]
    ) -> Iterator[tuple[Int[np.ndarray, " some"], _Part, Int[np.ndarray, " some"]]]:
        """Which targets each softmax has, and their places in it."""
        ends = np.cumsum([self._num_frequent, *(len(cluster.bias) for cluster in self._clusters)])
        cluster_of = np.searchsorted(ends, target_ids, side="right")  # 0: a frequent word
        entries = np.where(cluster_of == 0, target_ids, self._num_frequent + cluster_of - 1)
        yield np.arange(len(target_ids)), self._first, entries
        for index, cluster in enumerate(self._clusters):
            which = np.flatnonzero(cluster_of == index + 1)
            yield which, cluster, target_ids[which] - ends[index]


def log_softmax(values: Float[np.ndarray, "rows words"]) -> Float[np.ndarray, "rows words"]:
    """ln(exp(x) / sum exp(x)) of each row, float64; entries of -inf stay so."""
    values = values.astype(np.float64)
    values -= values.max(axis=1, keepdims=True)
    return values - np.log(np.exp(values).sum(axis=1, keepdims=True))


def _nats(
    part: _Part, inputs: Float[np.ndarray, "targets dim"], entries: Int[np.ndarray, " targets"]
) -> Float[np.ndarray, " targets"]:
    """ln sum exp(logits) - own logit, float64."""
    rows = np.arange(len(inputs))
    largest, total, own = np.full(len(inputs), -np.inf, np.float32), np.zeros(len(inputs)), np.zeros(len(inputs))
    for start, stop in itertools.pairwise([*range(0, len(part.bias), _WORDS), len(part.bias)]):
        logits = inputs @ part.weight[start:stop].T
        logits += part.bias[start:stop]
        here = (start <= entries) & (entries < stop)
        own[here] = logits[rows[here], entries[here] - start]
        above = np.maximum(largest, logits.max(axis=1))
        logits -= above[:, None]
        total *= np.exp(largest - above)
        total += np.exp(logits, out=logits).sum(axis=1)
        largest = above
    return np.log(total) + largest - own
