"""Online code length: how many bits it takes to send the tags to somebody who has the vectors already.

Source: Voita and Titov 2020 (EMNLP). The first part of the shuffled sentences is sent with a uniform code; each part
after it with a probe that was fitted to all parts before it. A layer from which tags are easily learned has a short
code, even where a probe that saw everything reaches the same accuracy.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from elmo_paper.analysis.probes.linear_probe import STRENGTHS, Split, fit

CUTS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.25, 12.5, 25, 50, 100)
"""Where parts end, in percent of the tokens."""
_HELD_OUT = 10
"""One in this many of the seen sentences chooses the penalty; the part that is sent next must not."""


@dataclass(frozen=True)
class OnlineCode:
    """The length of a code."""

    bits: float
    uniform_bits: float
    """Of a code in which all tags are equally likely."""

    @property
    def compression(self) -> float:
        """How many times shorter than the uniform code; 1 for uninformative vectors."""
        return self.uniform_bits / self.bits


def online_code(
    split: Split,
    lengths: Int[np.ndarray, " sentences"],
    *,
    num_tags: int,
    strengths: Sequence[float] = STRENGTHS,
) -> OnlineCode:
    """The code of all tags of `split`, whose sentences have these `lengths`; they are shuffled, always alike."""
    order = np.random.default_rng(0).permutation(len(lengths))
    tokens = _tokens_in(order, lengths)
    ends = np.cumsum(lengths[order])
    cuts = _cuts(ends)
    bits = ends[cuts[0] - 1] * np.log2(num_tags)
    for seen, sent in zip(cuts, cuts[1:], strict=False):
        part = tokens[ends[seen - 1] : ends[sent - 1]]
        bits += _bits(split, tokens, ends, seen, part, num_tags, strengths)
    return OnlineCode(float(bits), float(ends[-1] * np.log2(num_tags)))


def _bits(
    split: Split,
    tokens: Int[np.ndarray, " tokens"],
    ends: Int[np.ndarray, " sentences"],
    seen: int,
    part: Int[np.ndarray, " part"],
    num_tags: int,
    strengths: Sequence[float],
) -> float:
    """Of one part, by a probe of the `seen` sentences before it."""
    fitted = seen - max(1, seen // _HELD_OUT)
    train = tokens[: ends[fitted - 1]] if fitted else tokens[:0]
    if len(np.unique(split.tags[train])) < 2:
        return len(part) * float(np.log2(num_tags))
    probe = fit(_at(split, train), _at(split, tokens[len(train) : ends[seen - 1]]), strengths)
    # As if the receiver had seen one token more, of any tag: one that wasn't seen yet has a finite code.
    uniform = 1 / num_tags
    probabilities = (len(train) * probe.probabilities(_at(split, part)) + uniform) / (len(train) + 1)
    return float(-np.log2(probabilities).sum())


def _at(split: Split, tokens: Int[np.ndarray, " some"]) -> Split:
    return Split(split.vectors[tokens], split.tags[tokens])


def _tokens_in(
    order: Int[np.ndarray, " sentences"], lengths: Int[np.ndarray, " sentences"]
) -> Int[np.ndarray, " tokens"]:
    """The places of all tokens, sentence by sentence in this order."""
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    return np.concatenate([np.arange(int(starts[one]), int(starts[one] + lengths[one])) for one in order])


def _cuts(ends: Int[np.ndarray, " sentences"]) -> list[int]:
    found = np.searchsorted(ends, np.array(CUTS) / 100 * ends[-1]) + 1
    return sorted({int(min(one, len(ends))) for one in found})
