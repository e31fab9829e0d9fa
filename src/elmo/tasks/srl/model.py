"""The role labeler of He et al. 2017 with ELMo. Source: He et al. 2017; Peters et al. 2018.

tokens, predicate -> x = [static vectors ; ELMo ; vector of "is it the predicate"]   (instances, tokens, dim)
       -> alternating highway LSTM                                                   (instances, tokens, hidden)
       -> [h ; ELMo] -> Linear -> log-softmax                                        (instances, tokens, tags)
       -> Viterbi: I-X only after B-X or I-X -> the labeled spans of the predicate

An instance is a sentence with one of its predicates; a sentence's vectors are computed once for all of them. For text
without marks, a small biLSTM beside it finds the predicates (`PredicateFinder`); the papers take them as given.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from elmo.tasks.layers.crf import best_sequences, forbidden
from elmo.tasks.layers.linear import Linear
from elmo.tasks.layers.recurrent import AlternatingLSTM, BiLSTM, set_orthogonal
from elmo.tasks.srl.data import LabelerSettings, Proposition, Roles, RoleSentence
from elmo.tasks.tags import Span, all_tags, moves, spans_of, tags_of
from elmo.tasks.task import Vocabulary
from elmo.tasks.task_model import TaskModel, log_mean_of, mean_of
from elmo.tasks.tokens.representation import TokenRepresentation, TokenVectors

# Units of the finder of predicates in each direction.
_FINDER_SIZE = 64
_DROPOUT = 0.3


class PredicateFinder(nn.Module):
    """Which tokens are predicates, for text without marks: token vectors -> biLSTM -> Linear.

    It sends no gradient through the vectors, so that it doesn't change what the role labeler learns.
    """

    def __init__(self, input_dim: int) -> None:
        super().__init__()
        self.bilstm = BiLSTM(input_dim, [_FINDER_SIZE], _DROPOUT)
        self.project = nn.Linear(self.bilstm.output_dim, 1)

    def forward(
        self, vectors: Float[Tensor, "batch tokens dim"], mask: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch tokens"]:
        """Logits."""
        return self.project(self.bilstm(vectors.detach(), mask)).squeeze(2)

    def loss(
        self,
        vectors: Float[Tensor, "batch tokens dim"],
        mask: Bool[Tensor, "batch tokens"],
        predicates: Sequence[Sequence[tuple[int, int]]],
    ) -> Float[Tensor, ""]:
        """Binary cross-entropy, averaged over the tokens; `predicates`: (start, end) of all of each sentence."""
        gold = torch.zeros(mask.shape)
        for row, own in zip(gold, predicates, strict=True):
            row[[start for start, _ in own]] = 1
        logits = self(vectors, mask)
        losses = functional.binary_cross_entropy_with_logits(logits, gold.to(logits), reduction="none")
        return torch.where(mask, losses, 0).sum() / mask.sum().clamp(min=1)

    def probabilities(
        self, vectors: Float[Tensor, "batch tokens dim"], mask: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch tokens"]:
        """Of each token to be a predicate."""
        return self(vectors, mask).double().sigmoid()


# Of the instances that are predicted at a time: the predicates of a very long sentence, all at once, need its length
# squared of memory.
_MOST_TOKENS = 1 << 17


class ReadSentences(NamedTuple):
    """The vectors of a batch of sentences, and the model that goes on with them."""

    labeler: "RoleLabeler"
    vectors: TokenVectors


class RoleLabeler(TaskModel[RoleSentence, Roles]):
    """Sentences with predicates -> the labeled spans of each predicate."""

    allowed: Bool[Tensor, "tags tags"]
    begins: Bool[Tensor, " tags"]

    def __init__(self, settings: LabelerSettings, vocabulary: Vocabulary, tokens: TokenRepresentation) -> None:
        """`vocabulary`: "labels" of the spans."""
        super().__init__()
        input_dim = tokens.input_dim
        self.tokens = tokens
        self.tags = all_tags(vocabulary["labels"], "iob2")
        self._numbers = {tag: number for number, tag in enumerate(self.tags)}
        self.indicator = nn.Embedding(2, settings.indicator_dim)
        self.lstm = AlternatingLSTM(
            input_dim + settings.indicator_dim,
            settings.hidden_size,
            settings.num_layers,
            settings.recurrent_dropout,
        )
        self.finder = PredicateFinder(input_dim) if settings.find_predicates else None
        self.project = Linear(settings.hidden_size + tokens.output_dim, len(self.tags))
        set_orthogonal(self.project.weight.data)
        nn.init.zeros_(self.project.bias)
        allowed, begins, _ = moves(self.tags, "iob2")
        self.register_buffer("allowed", torch.tensor(allowed), persistent=False)
        self.register_buffer("begins", torch.tensor(begins), persistent=False)

    def forward(self, examples: Sequence[RoleSentence]) -> ReadSentences:
        """The sentences' vectors: which instances they have is known when predicates are found."""
        return ReadSentences(self, self.tokens([example.tokens for example in examples]))

    def loss_of(self, outputs: ReadSentences, examples: Sequence[RoleSentence]) -> Float[Tensor, ""]:
        """Cross-entropy of the gold tags: its mean over a sentence's tokens, averaged over instances.

        Spans of labels that the training data doesn't have count as O. The loss of the predicate finder is added.
        """
        loss, vectors = self.held_out_loss_of(outputs, examples), outputs.vectors
        if self.finder is None:
            return loss
        return loss + self.finder.loss(vectors.input, vectors.mask, [example.predicates or () for example in examples])

    def held_out_loss_of(self, outputs: ReadSentences, examples: Sequence[RoleSentence]) -> Float[Tensor, ""]:
        """That of the roles alone, which are scored with the predicates given."""
        instances = Instances.of(examples)
        logits, mask = self.tag_logits(outputs.vectors, instances)
        gold = torch.zeros(mask.shape, dtype=torch.int64)
        for row, proposition, length in zip(gold, instances.propositions, instances.lengths(), strict=True):
            tags = tags_of(proposition.spans, length, "iob2")
            row[:length] = torch.tensor([self._numbers.get(tag, 0) for tag in tags])
        return token_cross_entropy(logits, gold.to(logits.device), mask)

    def num_averaged(self, examples: Sequence[RoleSentence]) -> int:
        """The instances."""
        return sum(len(example.propositions) for example in examples)

    @property
    def outcomes(self) -> tuple[bool, tuple[str, ...]]:
        """Whether it finds predicates, and its tags."""
        return self.finder is not None, tuple(self.tags)

    def decide(self, outputs: Sequence[ReadSentences], examples: Sequence[RoleSentence]) -> list[Roles]:
        """By the mean of the probabilities: of each token to be a predicate, then of its tags."""
        if any(example.predicates is None for example in examples):
            chances = [
                model.finder.probabilities(vectors.input, vectors.mask)
                for model, vectors in outputs
                if model.finder is not None
            ]
            if chances:
                found = (mean_of(chances) > 0.5) & outputs[0].vectors.mask
                examples = [_with_predicates(*pair) for pair in zip(examples, found.tolist(), strict=True)]
        instances = Instances.of(examples)
        roles: list[list[Proposition]] = [[] for _ in examples]
        for part in instances.parts(_MOST_TOKENS):
            found_tags = [model.tag_logits(vectors, part) for model, vectors in outputs]
            chances_of_tags = log_mean_of([logits.log_softmax(dim=2) for logits, _ in found_tags])
            spans = self.decode(chances_of_tags, found_tags[0][1])
            for number, proposition, own in zip(part.sentence_numbers, part.propositions, spans, strict=True):
                roles[number].append(Proposition(proposition.predicate, own))
        return list(roles)

    def decode(
        self, log_probabilities: Float[Tensor, "instances tokens tags"], mask: Bool[Tensor, "instances tokens"]
    ) -> list[list[Span]]:
        """The spans of the most probable tags of each instance that are a BIO sequence."""
        no_ends = log_probabilities.new_zeros(len(self.tags))
        rows = best_sequences(log_probabilities, mask, forbidden(self.allowed), forbidden(self.begins), no_ends)
        return [spans_of([self.tags[number] for number in row]) for row in rows]

    def tag_logits(
        self, vectors: TokenVectors, instances: "Instances"
    ) -> tuple[Float[Tensor, "instances tokens tags"], Bool[Tensor, "instances tokens"]]:
        """Logits, and the mask of the tokens. `vectors`: of the sentences."""
        rows = torch.tensor(instances.sentence_numbers, dtype=torch.int64, device=vectors.mask.device)
        mask = vectors.mask.index_select(0, rows)
        indicator = self.indicator(instances.indicators(mask.shape[1]).to(mask.device))
        read = torch.cat([vectors.input.index_select(0, rows), indicator], dim=2)
        hidden = self.lstm(read, mask)
        if vectors.output is not None:
            hidden = torch.cat([hidden, vectors.output.index_select(0, rows)], dim=2)
        return self.project(hidden), mask


class Instances(NamedTuple):
    """The propositions of a batch of sentences."""

    sentence_lengths: list[int]
    """Tokens of each sentence of the batch."""
    sentence_numbers: list[int]
    """The place of each instance's sentence in the batch."""
    propositions: list[Proposition]

    @classmethod
    def of(cls, sentences: Sequence[RoleSentence]) -> "Instances":
        """All propositions, in order."""
        found = [(number, one) for number, sentence in enumerate(sentences) for one in sentence.propositions]
        lengths = [len(sentence.tokens) for sentence in sentences]
        return cls(lengths, [number for number, _ in found], [one for _, one in found])

    def parts(self, most_tokens: int) -> "Iterator[Instances]":
        """The same, a few at a time: at most `most_tokens` tokens, padding included, but at least one instance."""
        count = max(1, most_tokens // max([1, *self.sentence_lengths]))
        for first in range(0, len(self.propositions), count):
            part = slice(first, first + count)
            yield Instances(self.sentence_lengths, self.sentence_numbers[part], self.propositions[part])

    def lengths(self) -> list[int]:
        """Tokens of each instance."""
        return [self.sentence_lengths[number] for number in self.sentence_numbers]

    def indicators(self, tokens: int) -> Int[Tensor, "instances tokens"]:
        """1 at the tokens of the predicate, else 0."""
        found = torch.zeros(len(self.propositions), tokens, dtype=torch.int64)
        for row, proposition in zip(found, self.propositions, strict=True):
            row[slice(*proposition.predicate)] = 1
        return found


def _with_predicates(example: RoleSentence, is_predicate: Sequence[bool]) -> RoleSentence:
    if example.predicates is not None:
        return example
    found = [(place, place + 1) for place, is_found in enumerate(is_predicate) if is_found]
    return replace(example, propositions=[Proposition(predicate) for predicate in found], predicates=found)


def token_cross_entropy(
    logits: Float[Tensor, "batch tokens tags"], gold: Int[Tensor, "batch tokens"], mask: Bool[Tensor, "batch tokens"]
) -> Float[Tensor, ""]:
    """Mean over each row's tokens, then over the rows that have a token; positions beyond a row's end are ignored."""
    losses = functional.cross_entropy(logits.transpose(1, 2), gold.masked_fill(~mask, 0), reduction="none")
    per_row = torch.where(mask, losses, 0).sum(dim=1) / mask.sum(dim=1).clamp(min=1)
    return per_row.sum() / mask.any(dim=1).sum().clamp(min=1)
