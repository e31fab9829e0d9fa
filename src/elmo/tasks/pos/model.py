"""TokenTagger: a biLSTM and a softmax over the tags of each token, which doesn't see its neighbors' tags.

tokens -> [static vectors ; ELMo ; char CNN] -> biLSTM -> [h ; ELMo] -> Linear -> softmax
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from elmo.tasks.columns import TaggedSentence
from elmo.tasks.layers.characters import own_characters, with_characters
from elmo.tasks.layers.linear import linear
from elmo.tasks.layers.recurrent import BiLSTM, VariationalDropout
from elmo.tasks.pos.data import TokenTaggerSettings
from elmo.tasks.pos.task import TokenTags
from elmo.tasks.task import Vocabulary
from elmo.tasks.task_model import TaskModel, mean_of
from elmo.tasks.tokens.representation import TokenRepresentation

# As `functional.cross_entropy` has it: padding, and tags that the training data don't have.
_LEFT_OUT = -100


class TokenTagger(TaskModel[TaggedSentence, TokenTags]):
    """Sentences -> a tag for each token."""

    def __init__(self, settings: TokenTaggerSettings, vocabulary: Vocabulary, tokens: TokenRepresentation) -> None:
        """`vocabulary`: "labels", the tags; "words" and "characters" of the training data."""
        super().__init__()
        self.tokens = tokens
        self.characters = own_characters(settings, vocabulary)
        dim = tokens.input_dim + settings.character_filters
        self.bilstm = BiLSTM(dim, settings.hidden_sizes, settings.dropout)
        self.dropout = VariationalDropout(settings.dropout)
        self.tags = list(vocabulary["labels"])
        self._numbers = {tag: number for number, tag in enumerate(self.tags)}
        self._words = frozenset(vocabulary["words"])
        self.project = linear(self.bilstm.output_dim + tokens.output_dim, len(self.tags))

    def forward(self, examples: Sequence[TaggedSentence]) -> Float[Tensor, "batch tokens tags"]:
        """Logits; those after the end of a sentence are meaningless."""
        sentences = [example.tokens for example in examples]
        vectors = self.tokens(sentences)
        read = with_characters(vectors.input, self.characters, sentences)
        hidden = vectors.with_output(self.bilstm(read, vectors.mask))
        return self.project(self.dropout(hidden))

    def loss_of(
        self, outputs: Float[Tensor, "batch tokens tags"], examples: Sequence[TaggedSentence]
    ) -> Float[Tensor, ""]:
        """Cross-entropy, averaged over the tokens of the batch whose tags the training data has."""
        gold = torch.full(outputs.shape[:2], _LEFT_OUT)
        for row, example in zip(gold, examples, strict=True):
            row[: len(example.tags)] = torch.tensor([self._numbers.get(tag, _LEFT_OUT) for tag in example.tags])
        flat = outputs.flatten(0, 1), gold.flatten().to(outputs.device)
        total = functional.cross_entropy(*flat, ignore_index=_LEFT_OUT, reduction="sum")
        return total / max(1, self.num_averaged(examples))

    def num_averaged(self, examples: Sequence[TaggedSentence]) -> int:
        """The tokens whose tags the training data has."""
        return sum(tag in self._numbers for example in examples for tag in example.tags)

    @property
    def outcomes(self) -> tuple[str, ...]:
        """Its tags."""
        return tuple(self.tags)

    def decide(
        self, outputs: Sequence[Float[Tensor, "batch tokens tags"]], examples: Sequence[TaggedSentence]
    ) -> list[TokenTags]:
        """By the mean of the probabilities."""
        rows = mean_of([logits.softmax(dim=2) for logits in outputs]).argmax(dim=2).tolist()
        return [
            TokenTags(
                [self.tags[number] for number in row[: len(example.tokens)]],
                [token in self._words for token in example.tokens],
            )
            for row, example in zip(rows, examples, strict=True)
        ]
