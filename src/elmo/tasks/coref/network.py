"""SpanRanker: encoded tokens -> which spans are mentions, and which earlier span each of them goes back to.

tokens, encoded and embedded -> all spans of a sentence up to 10 tokens -> mention scores m
  -> the best k that don't cross -> span vectors g = [h_first ; h_last ; width ; head]
  -> for each span up to A earlier ones: s(i, j) = m_i + m_j + FFNN [g_i ; g_j ; g_i * g_j ; speaker ; genre ; distance]
  -> table of scores (k, 1 + A), see spans.py

Source: Lee et al. 2017, sections 3 and 4.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from elmo.ops.dropout import Dropout
from elmo.tasks.coref.settings import ResolverSettings
from elmo.tasks.coref.span_scores import MentionScorer, PairScorer, TokenStates, span_vectors
from elmo.tasks.coref.spans import antecedent_pairs, candidate_spans, keep_best, score_table
from elmo.tasks.task_model import mean_of

_NUM_BUCKETS = 10


def bucket(values: Int[Tensor, "*values"]) -> Int[Tensor, "*values"]:
    """Whole numbers from 0 on -> classes: 0, 1, 2, 3, 4, 5-7, 8-15, 16-31, 32-63, 64 and more.

    Source: Clark and Manning 2016.
    """
    power = (values.clamp(min=1).to(torch.float64).log2() + 1e-12).floor().to(torch.int64)
    return torch.where(values <= 4, values, power + 3).clamp(max=_NUM_BUCKETS - 1)


@dataclass(frozen=True)
class PairFacts:
    """Features of pairs that don't follow from their spans alone."""

    speakers: Int[Tensor, " tokens"] | None
    """A number for the speaker of each token; None: not a feature."""
    genre: int
    """The number of the document's genre; without meaning where genres are not a feature."""


@dataclass(frozen=True)
class Ranked:
    """The scores of a document."""

    candidates: Int[Tensor, "candidates 2"]
    mention_scores: Float[Tensor, " candidates"]
    kept: Int[Tensor, " kept"]
    """Indices of the kept candidates, rising."""
    pairs: Int[Tensor, "pairs 2"]
    """(span, antecedent), as numbers of kept spans."""
    scores: Float[Tensor, "kept antecedents"]
    """See spans.py."""

    @property
    def spans(self) -> Int[Tensor, "kept 2"]:
        """The kept spans."""
        return self.candidates[self.kept]


class SpanRanker(nn.Module):
    """Everything after the encoder."""

    def __init__(
        self,
        encoded_dim: int,
        embedded_dim: int,
        settings: ResolverSettings,
        *,
        num_genres: int = 0,
    ) -> None:
        """`num_genres`: how many genres have a vector; 0: genres are not a feature."""
        super().__init__()
        size, hidden, dropout = settings.feature_size, settings.span_hidden_sizes, settings.span_dropout
        self.settings = settings
        self.widths = _table(settings.max_width, size)
        self.distances = _table(_NUM_BUCKETS, size)
        self.same_speaker = _table(2, size) if settings.speakers else None
        self.genres = _table(num_genres, size) if num_genres else None
        self.dropout = Dropout(dropout)
        self.mention_scorer = MentionScorer((encoded_dim, embedded_dim, size), hidden, dropout)
        span_dim = 2 * encoded_dim + size + embedded_dim
        num_features = 1 + settings.speakers + bool(num_genres)
        self.pair_scorer = PairScorer(span_dim, num_features * size, hidden, dropout)

    def width_vectors(self, spans: Int[Tensor, "spans 2"]) -> Float[Tensor, "spans width_dim"]:
        """Of each span's width."""
        return self.dropout(self.widths(spans[:, 1] - spans[:, 0]))

    def fit(
        self,
        given: "RankerInput",
        spans: Int[Tensor, "kept 2"],
        widths: Float[Tensor, "kept width_dim"],
        pairs: Int[Tensor, "pairs 2"],
    ) -> Float[Tensor, " pairs"]:
        """How well each pair of kept spans fits, whatever their mention scores."""
        vectors = span_vectors(given.states, spans, widths)
        return self.pair_scorer(vectors, pairs, lambda part: self._features(part, spans, given.facts))

    def _features(
        self, pairs: Int[Tensor, "pairs 2"], spans: Int[Tensor, "kept 2"], facts: PairFacts
    ) -> Float[Tensor, "pairs feature_dim"]:
        """[same speaker ; genre ; distance], without those that aren't features."""
        found = []
        if self.same_speaker is not None:
            assert facts.speakers is not None, "speakers are a feature of this network"
            speakers = facts.speakers[spans[:, 0]]  # a span's speaker is its first token's
            found.append(self.same_speaker((speakers[pairs[:, 0]] == speakers[pairs[:, 1]]).long()))
        if self.genres is not None:
            found.append(self.genres.weight[facts.genre].expand(len(pairs), -1))
        found.append(self.distances(bucket(pairs[:, 0] - pairs[:, 1])))
        return self.dropout(torch.cat(found, dim=1))


@dataclass(frozen=True)
class RankerInput:
    """A ranker, and what it reads of a document."""

    ranker: SpanRanker
    states: TokenStates
    facts: PairFacts


def rank(inputs: Sequence[RankerInput], sentence_lengths: Sequence[int]) -> Ranked:
    """The spans and scores of one document by one ranker, or by several with the same settings together.

    `sentence_lengths`: of the document's sentences, in whose order the states of all tokens are.
    Several have the mean of their mention scores, by which spans are kept, and the mean of what they say of the pairs.
    """
    ranker, device = inputs[0].ranker, inputs[0].states.encoded.device
    settings = ranker.settings
    candidates = candidate_spans(sentence_lengths, settings.max_width).to(device)
    widths = [one.ranker.width_vectors(candidates) for one in inputs]
    mention_scores = mean_of(
        [one.ranker.mention_scorer(one.states, candidates, own) for one, own in zip(inputs, widths, strict=True)]
    )
    count = int(settings.spans_per_token * sum(sentence_lengths))
    kept = keep_best(candidates, mention_scores, count)
    pairs = antecedent_pairs(len(kept), settings.max_antecedents).to(device)
    fit = mean_of(
        [one.ranker.fit(one, candidates[kept], own[kept], pairs) for one, own in zip(inputs, widths, strict=True)]
    )
    kept_scores = mention_scores[kept]
    scores = fit + kept_scores.index_select(0, pairs[:, 0]) + kept_scores.index_select(0, pairs[:, 1])
    return Ranked(candidates, mention_scores, kept, pairs, score_table(pairs, scores, len(kept)))


def _table(rows: int, dim: int) -> nn.Embedding:
    table = nn.Embedding(rows, dim)
    nn.init.xavier_uniform_(table.weight)
    return table
