"""Tagger: the paper's biLSTM-CRF. Source: Peters et al. 2017 and 2018.

tokens -> [static vectors ; ELMo ; char CNN] -> biLSTM -> [h ; ELMo] -> biLSTM -> [h ; ELMo] -> Linear -> CRF -> spans

ELMo is at one of the three places, or at the first and the last. TagLM has it between the biLSTM layers.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from elmo.tasks.layers.characters import own_characters, with_characters
from elmo.tasks.layers.crf import CRF
from elmo.tasks.layers.linear import linear
from elmo.tasks.layers.recurrent import BiLSTM, VariationalDropout
from elmo.tasks.ner.data import TaggedSentence
from elmo.tasks.ner.settings import BETWEEN, TaggerSettings
from elmo.tasks.tags import Span, all_tags, moves, spans_of, tags_of
from elmo.tasks.task import Vocabulary
from elmo.tasks.task_model import TaskModel, mean_of
from elmo.tasks.tokens.representation import TokenRepresentation, TokenVectors


class Tagger(TaskModel[TaggedSentence, list[Span]]):
    """Sentences -> entities."""

    def __init__(self, settings: TaggerSettings, vocabulary: Vocabulary, tokens: TokenRepresentation) -> None:
        """`vocabulary`: "labels" of the entities; "characters" of the training data."""
        super().__init__()
        self.settings = settings
        self.tokens = tokens
        self.characters = own_characters(settings, vocabulary)
        dim = tokens.require_input(settings.character_filters)
        self.bilstm = BiLSTM(dim, settings.hidden_sizes, settings.dropout, tokens.elmo_dim(BETWEEN))
        self.dropout = VariationalDropout(settings.dropout)
        scheme = settings.tagger_scheme
        self.tags = all_tags(vocabulary["labels"], scheme)
        self._numbers = {tag: number for number, tag in enumerate(self.tags)}
        self.project = linear(self.bilstm.output_dim + tokens.output_dim, len(self.tags))
        self.crf = CRF(*map(torch.tensor, moves(self.tags, scheme)))

    def loss(self, examples: Sequence[TaggedSentence]) -> Float[Tensor, ""]:
        """Minus the log-likelihood of the gold tags, averaged over sentences. Entities of unknown labels count as O."""
        emissions, vectors = self._emissions(examples)
        gold = torch.zeros(vectors.mask.shape, dtype=torch.int64)
        for row, example in zip(gold, examples, strict=True):
            tags = tags_of(example.spans, len(example.tokens), self.settings.tagger_scheme)
            row[: len(tags)] = torch.tensor([self._numbers.get(tag, 0) for tag in tags])
        return -self.crf.log_likelihood(emissions, gold.to(emissions.device), vectors.mask).mean()

    @property
    def outcomes(self) -> tuple[str, ...]:
        """Its tags."""
        return tuple(self.tags)

    def predict_with(
        self, others: Sequence[TaskModel[TaggedSentence, list[Span]]], examples: Sequence[TaggedSentence]
    ) -> list[list[Span]]:
        """By the mean of the models' emissions and transitions: the sequence likeliest under all of them together."""
        models = self.together_with(others)
        found = [model._emissions(examples) for model in models]
        transitions = mean_of([model.crf.transitions for model in models])
        rows = self.crf.decode(mean_of([emissions for emissions, _ in found]), found[0][1].mask, transitions)
        return [spans_of([self.tags[number] for number in row]) for row in rows]

    def _emissions(self, examples: Sequence[TaggedSentence]) -> tuple[Float[Tensor, "batch tokens tags"], TokenVectors]:
        sentences = [example.tokens for example in examples]
        vectors = self.tokens(sentences)
        read = with_characters(vectors.input, self.characters, sentences)
        hidden = self.bilstm(read, vectors.mask, vectors.elmo.get(BETWEEN))
        return self.project(self.dropout(vectors.with_output(hidden))), vectors
