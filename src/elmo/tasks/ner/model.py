"""Tagger: the paper's biLSTM-CRF. Source: Peters et al. 2017 and 2018.

tokens -> [static vectors ; ELMo ; char CNN] -> biLSTM -> [h ; ELMo] -> biLSTM -> [h ; ELMo] -> Linear -> CRF -> spans

ELMo is at one of the three places, or at the first and the last. TagLM has it between the biLSTM layers.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from elmo.tasks.columns import TaggedSentence
from elmo.tasks.layers.characters import own_characters, with_characters
from elmo.tasks.layers.crf import CRF
from elmo.tasks.layers.linear import linear
from elmo.tasks.layers.recurrent import BiLSTM, VariationalDropout
from elmo.tasks.ner.data import BETWEEN, TaggerSettings
from elmo.tasks.tags import Span, all_tags, moves, spans_of, tags_of
from elmo.tasks.task import Vocabulary
from elmo.tasks.task_model import TaskModel, mean_of
from elmo.tasks.tokens.representation import TokenRepresentation

# Of the tags that it predicts, whatever that of the files is.
_SCHEME = "bioul"


class TagScores(NamedTuple):
    """What a CRF decides by."""

    emissions: Float[Tensor, "batch tokens tags"]
    mask: Bool[Tensor, "batch tokens"]
    """True at a token."""
    transitions: Float[Tensor, "tags tags"]


class Tagger(TaskModel[TaggedSentence, list[Span]]):
    """Sentences -> entities."""

    def __init__(self, settings: TaggerSettings, vocabulary: Vocabulary, tokens: TokenRepresentation) -> None:
        """`vocabulary`: "labels" of the entities; "characters" of the training data."""
        super().__init__()
        self.tokens = tokens
        self.characters = own_characters(settings, vocabulary)
        dim = tokens.input_dim + settings.character_filters
        self.bilstm = BiLSTM(dim, settings.hidden_sizes, settings.dropout, tokens.elmo_dim(BETWEEN))
        self.dropout = VariationalDropout(settings.dropout)
        self.tags = all_tags(vocabulary["labels"], _SCHEME)
        self._numbers = {tag: number for number, tag in enumerate(self.tags)}
        self.project = linear(self.bilstm.output_dim + tokens.output_dim, len(self.tags))
        self.crf = CRF(*map(torch.tensor, moves(self.tags, _SCHEME)))

    def forward(self, examples: Sequence[TaggedSentence]) -> TagScores:
        """Scores of the tags."""
        sentences = [example.tokens for example in examples]
        vectors = self.tokens(sentences)
        read = with_characters(vectors.input, self.characters, sentences)
        hidden = self.bilstm(read, vectors.mask, vectors.elmo.get(BETWEEN))
        emissions = self.project(self.dropout(vectors.with_output(hidden)))
        return TagScores(emissions, vectors.mask, self.crf.transitions)

    def loss_of(self, outputs: TagScores, examples: Sequence[TaggedSentence]) -> Float[Tensor, ""]:
        """Minus the log-likelihood of the gold tags, averaged over sentences. Entities of unknown labels count as O."""
        gold = torch.zeros(outputs.mask.shape, dtype=torch.int64)
        for row, example in zip(gold, examples, strict=True):
            tags = tags_of(example.spans, len(example.tokens), _SCHEME)
            row[: len(tags)] = torch.tensor([self._numbers.get(tag, 0) for tag in tags])
        return -self.crf.log_likelihood(outputs.emissions, gold.to(outputs.mask.device), outputs.mask).mean()

    @property
    def outcomes(self) -> tuple[str, ...]:
        """Its tags."""
        return tuple(self.tags)

    def decide(self, outputs: Sequence[TagScores], examples: Sequence[TaggedSentence]) -> list[list[Span]]:
        """By the mean of the emissions and transitions: the sequence likeliest under all models together."""
        emissions = mean_of([own.emissions for own in outputs])
        rows = self.crf.decode(emissions, outputs[0].mask, mean_of([own.transitions for own in outputs]))
        return [spans_of([self.tags[number] for number in row]) for row in rows]
