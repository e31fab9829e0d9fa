"""Resolver: documents -> clusters of mentions. Source: Lee et al. 2017; ELMo as in Peters et al. 2018.

tokens -> embedded = [static vectors ; char CNN], dropout --------------------------+
       -> [static vectors ; char CNN ; ELMo], dropout -> biLSTM, each sentence apart +-> SpanRanker
       -> table of antecedent scores -> clusters
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from elmo.ops.dropout import Dropout
from elmo.tasks.coref.documents import Document, Mention, Resolved, ResolverSettings, disjoint
from elmo.tasks.coref.spans import (
    MentionScorer,
    PairScorer,
    TokenStates,
    antecedent_loss,
    antecedent_pairs,
    candidate_spans,
    clusters_of,
    gold_table,
    keep_best,
    score_table,
    span_vectors,
)
from elmo.tasks.layers.characters import own_windows
from elmo.tasks.layers.linear import linear
from elmo.tasks.layers.recurrent import CoupledLSTM
from elmo.tasks.task import Vocabulary
from elmo.tasks.task_model import TaskModel, mean_of
from elmo.tasks.tokens.representation import TokenRepresentation

_UNKNOWN_GENRE = 0
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
    """Encoded tokens -> which spans are mentions, and which earlier span each of them goes back to.

    tokens, encoded and embedded -> all spans of a sentence up to 10 tokens -> mention scores m
      -> the best k that don't cross -> span vectors g = [h_first ; h_last ; width ; head]
      -> for each span up to A earlier ones:
         s(i, j) = m_i + m_j + FFNN [g_i ; g_j ; g_i * g_j ; speaker ; genre ; distance]
      -> table of scores (k, 1 + A), see spans.py

    Source: Lee et al. 2017, sections 3 and 4.
    """

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


class Resolver(TaskModel[Document, Resolved]):
    """Documents -> clusters."""

    def __init__(self, settings: ResolverSettings, vocabulary: Vocabulary, tokens: TokenRepresentation) -> None:
        """`vocabulary`: "characters" and "genres" of the training data."""
        super().__init__()
        self.settings = settings
        self.tokens = tokens
        self.characters = own_windows(settings, vocabulary, settings.character_widths)
        character_dim = 0 if self.characters is None else self.characters.output_dim
        embedded_dim = sum(tokens.static_dims.values()) + character_dim
        self._genres = {genre: number for number, genre in enumerate(vocabulary["genres"], start=_UNKNOWN_GENRE + 1)}
        self.lexical_dropout = Dropout(settings.lexical_dropout)
        self.lstm = CoupledLSTM(tokens.input_dim + character_dim, settings.hidden_size, settings.lstm_dropout)
        self.lstm_dropout = Dropout(settings.lstm_dropout)
        self.head = linear(self.lstm.output_dim, 1)
        self.ranker = SpanRanker(
            self.lstm.output_dim,
            embedded_dim,
            settings,
            num_genres=len(self._genres) + 1 if settings.genre_pattern else 0,
        )

    def forward(self, examples: Sequence[Document]) -> list[RankerInput]:
        """What spans and pairs are ranked by, of each document."""
        return [RankerInput(self.ranker, self._states(document), self._facts(document)) for document in examples]

    def loss_of(self, outputs: list[RankerInput], examples: Sequence[Document]) -> Float[Tensor, ""]:
        """The antecedent loss, plus the mention loss if there is one, summed over spans and averaged over documents."""
        return torch.stack([self._loss(*pair) for pair in zip(outputs, examples, strict=True)]).mean()

    @property
    def outcomes(self) -> tuple[float | bool, ...]:
        """What decides which spans and pairs it considers."""
        settings = self.settings
        considered = (settings.max_width, settings.spans_per_token, settings.max_antecedents)
        return *considered, settings.mention_loss > 0

    def decide(self, outputs: Sequence[list[RankerInput]], examples: Sequence[Document]) -> list[Resolved]:
        """By the means of the mention scores, over one set of candidates, and of the antecedent scores."""
        return [self._resolved(own, document) for *own, document in zip(*outputs, examples, strict=True)]

    def _loss(self, read: RankerInput, document: Document) -> Float[Tensor, ""]:
        ranked = rank([read], _lengths(document))
        gold = _gold_clusters(document, ranked.candidates)
        table = gold_table(ranked.pairs, gold[ranked.kept], ranked.scores.shape[1])
        loss = antecedent_loss(ranked.scores, table)
        if self.settings.mention_loss:
            is_mention = (gold >= 0).to(loss.dtype)
            mentions = functional.binary_cross_entropy_with_logits(ranked.mention_scores, is_mention, reduction="sum")
            loss = loss + self.settings.mention_loss * mentions
        return loss

    def _resolved(self, read: Sequence[RankerInput], document: Document) -> Resolved:
        if document.num_tokens == 0:
            return Resolved([])
        ranked = rank(read, _lengths(document))
        spans: list[Mention] = [(first, last) for first, last in ranked.spans.tolist()]
        clusters = clusters_of(spans, ranked.scores)
        if self.settings.mention_loss:
            linked = set(chain.from_iterable(clusters))
            looks_like_one = (ranked.mention_scores[ranked.kept] > 0).tolist()
            alone = [span for span, is_one in zip(spans, looks_like_one, strict=True) if is_one and span not in linked]
            clusters = sorted([*clusters, *([span] for span in alone)], key=lambda cluster: cluster[0])
        return Resolved(clusters, spans)

    def _states(self, document: Document) -> TokenStates:
        """Of all tokens, the sentences one after another."""
        vectors = self.tokens(document.sentences)
        parts = list(vectors.static.values())
        if self.settings.normalize_static:
            parts = [_normalized(part) for part in parts]
        if self.characters is not None:
            parts.append(self.characters(document.sentences))
        plain = torch.cat(parts, dim=2)
        embedded = self.lexical_dropout(plain)
        elmo = vectors.elmo.get("input")
        # With ELMo the LSTM reads a dropped-out copy of its own, as in the original.
        read = embedded if elmo is None else self.lexical_dropout(torch.cat([plain, elmo], dim=2))
        encoded = self.lstm_dropout(self.lstm(read, vectors.mask))[vectors.mask]
        return TokenStates(encoded, embedded[vectors.mask], self.head(encoded).squeeze(1))

    def _facts(self, document: Document) -> PairFacts:
        speakers = None
        if self.settings.speakers:
            numbers: dict[str, int] = {}
            named = document.speakers or [""] * document.num_tokens
            speakers = torch.tensor([numbers.setdefault(name, len(numbers)) for name in named])
            speakers = speakers.to(self.tokens.device)
        genre = self._genres.get(self.settings.genre_of(document.name), _UNKNOWN_GENRE)
        return PairFacts(speakers, genre)


def _normalized(vectors: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch dim"]:
    """Of length 1. Zeros, which unknown words have, stay so, with the gradient of what isn't normalized: a word that is
    trained can begin with them."""
    lengths = torch.linalg.vector_norm(vectors, dim=-1, keepdim=True)
    return vectors / torch.where(lengths > 0, lengths, 1)


def _lengths(document: Document) -> list[int]:
    return [len(sentence) for sentence in document.sentences]


def _gold_clusters(document: Document, candidates: Int[Tensor, "candidates 2"]) -> Int[Tensor, " candidates"]:
    """The number of each candidate's gold cluster; -1: it is in none."""
    numbers = {mention: number for number, cluster in enumerate(disjoint(document.clusters)) for mention in cluster}
    found = [numbers.get((first, last), -1) for first, last in candidates.tolist()]
    return torch.tensor(found, dtype=torch.int64, device=candidates.device)


def _table(rows: int, dim: int) -> nn.Embedding:
    table = nn.Embedding(rows, dim)
    nn.init.xavier_uniform_(table.weight)
    return table
