"""Resolver: documents -> clusters of mentions. Source: Lee et al. 2017; ELMo as in Peters et al. 2018.

tokens -> embedded = [static vectors ; char CNN], dropout --------------------------+
       -> [static vectors ; char CNN ; ELMo], dropout -> biLSTM, each sentence apart +-> SpanRanker (network.py)
       -> table of antecedent scores -> clusters
"""

from collections.abc import Sequence
from itertools import chain

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from elmo.errors import ConfigError
from elmo.ops.dropout import Dropout
from elmo.tasks.coref.documents import Document, Mention, Resolved, disjoint
from elmo.tasks.coref.network import PairFacts, RankerInput, SpanRanker, rank
from elmo.tasks.coref.settings import NO_HEADS, ResolverSettings
from elmo.tasks.coref.span_scores import TokenStates
from elmo.tasks.coref.spans import antecedent_loss, clusters_of, gold_table
from elmo.tasks.layers.characters import own_windows
from elmo.tasks.layers.linear import linear
from elmo.tasks.layers.recurrent import CoupledLSTM
from elmo.tasks.task import Vocabulary
from elmo.tasks.task_model import TaskModel
from elmo.tasks.tokens.representation import TokenRepresentation

_UNKNOWN_GENRE = 0


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
        if embedded_dim == 0:
            raise ConfigError(NO_HEADS)
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
