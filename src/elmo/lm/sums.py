"""Perplexity: sums over the predictions of a text, in total and by kind of token.

One perplexity hides its parts: where a third of the tokens are `<UNK>`, it is mostly about one symbol. So
predictions are also added up by kind: listed tokens, tokens predicted by their beginning, `<UNK>`, sentence boundaries.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from elmo.shapes import Float, Int

Kind = Literal["listed", "beginning", "unknown", "boundary"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Tally:
    """Predictions of one kind."""

    nats: dict[str, float]
    """Per direction, over all of them."""
    count: int
    """In each direction."""

    def perplexity(self, direction: str) -> float | None:
        """Of "forward", "backward" or their "mean"; None if there is no prediction of this kind, inf as in `of`."""
        if not self.count:
            return None
        nats = sum(self.nats.values()) / len(self.nats) if direction == "mean" else self.nats[direction]
        return _exp(nats / self.count)


@dataclass(frozen=True)
class Perplexity:
    """The sums over a text."""

    nats: dict[str, float]
    """Per direction, over all predictions."""
    num_predictions: int
    """Per direction: every token, and one boundary for each sentence."""
    num_sentences: int
    num_unknown: int
    """Tokens whose target is `<UNK>`."""
    num_characters: int | None = None
    """Of all tokens, and one for the space or line end after each. None: not counted."""
    kinds: Mapping[Kind, Tally] | None = None
    """The same predictions by kind. None: the kinds were not distinguished."""

    def of(self, direction: str) -> float:
        """Perplexity of "forward", "backward", or of their "mean"; inf if it exceeds every float: of a model that has
        diverged."""
        return _exp(self._nats(direction) / self.num_predictions)

    def _nats(self, direction: str) -> float:
        return sum(self.nats.values()) / len(self.nats) if direction == "mean" else self.nats[direction]

    @property
    def bits_per_character(self) -> float | None:
        """Mean of the directions. A lower bound: how unlisted tokens are spelled is not in it."""
        return None if not self.num_characters else self._nats("mean") / math.log(2) / self.num_characters

    def to_dict(self) -> dict[str, float]:
        """Plain values, for JSON; figures that a text or protocol doesn't have are left out."""
        tokens = self.num_predictions - self.num_sentences
        values: dict[str, float] = {
            **{f"{name}_perplexity": self.of(name) for name in (*self.nats, "mean")},
            "nats_per_token": self._nats("mean") / self.num_predictions,
            "predictions": self.num_predictions,
            "sentences": self.num_sentences,
            "tokens": tokens,
            "unknown_share": self.num_unknown / max(1, tokens),
        }
        if self.bits_per_character is not None:
            values["bits_per_character"] = self.bits_per_character
        return {**values, **dict(self._by_kind(max(1, tokens)))}

    def _by_kind(self, tokens: int) -> Iterator[tuple[str, float]]:
        for kind, tally in (self.kinds or {}).items():
            if not tally.count:
                continue
            if kind == "beginning":
                yield "beginning_share", tally.count / tokens
            yield f"{kind}_share_of_nats", sum(tally.nats.values()) / sum(self.nats.values())
            for direction in (*tally.nats, "mean"):
                perplexity = tally.perplexity(direction)
                assert perplexity is not None
                yield f"{kind}_{direction}_perplexity", perplexity


def _exp(nats: float) -> float:
    try:
        return math.exp(nats)
    except OverflowError:
        return math.inf


class Sums:
    """Adds up predictions of one text, or of a part of it."""

    def __init__(self, directions: Sequence[str]) -> None:
        self.directions = tuple(directions)
        self.num_sentences = self.num_characters = 0
        self.counts = np.zeros(len(KINDS), dtype=np.int64)
        self.nats = np.zeros((len(KINDS), len(directions)))

    def add(
        self,
        tokens: Sequence[str],
        kinds: Int[np.ndarray, " tokens"],
        nats: Mapping[str, Float[np.ndarray, " predictions"]],
    ) -> None:
        """A sentence: `kinds` (tokens,) places in KINDS; `nats` per direction, in the order of the text, (tokens + 1,),
        that of the boundary last."""
        boundary = KINDS.index("boundary")
        kinds = np.append(kinds, boundary)
        self.counts += np.bincount(kinds, minlength=len(KINDS))
        for column, direction in enumerate(self.directions):
            self.nats[:, column] += np.bincount(kinds, weights=nats[direction], minlength=len(KINDS))
        self.num_sentences += 1
        self.num_characters += sum(map(len, tokens)) + len(tokens)

    def vector(self) -> Float[np.ndarray, " values"]:
        """All sums as one float64 vector, to be sent and added up."""
        return np.concatenate([[self.num_sentences, self.num_characters], self.counts, self.nats.ravel()])

    @classmethod
    def of_vector(cls, vector: Float[np.ndarray, " values"], directions: Sequence[str]) -> "Sums":
        """The inverse of `vector`."""
        sums = cls(directions)
        sums.num_sentences, sums.num_characters = int(vector[0]), int(vector[1])
        sums.counts = vector[2 : 2 + len(KINDS)].astype(np.int64)
        sums.nats = vector[2 + len(KINDS) :].reshape(sums.nats.shape)
        return sums

    def perplexity(self) -> Perplexity:
        """The figures so far."""
        kinds: dict[Kind, Tally] = {
            kind: Tally(dict(zip(self.directions, self.nats[place].tolist(), strict=True)), int(self.counts[place]))
            for place, kind in enumerate(KINDS)
        }
        return Perplexity(
            nats=dict(zip(self.directions, self.nats.sum(axis=0).tolist(), strict=True)),
            num_predictions=int(self.counts.sum()),
            num_sentences=self.num_sentences,
            num_unknown=int(self.counts[KINDS.index("unknown")]),
            num_characters=self.num_characters,
            kinds=kinds,
        )
