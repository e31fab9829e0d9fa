"""ESIM with ELMo. Source: Chen et al. 2017; Peters et al. 2018.

premise, hypothesis, alike and with the same weights:
tokens -> [static vectors ; ELMo] -> biLSTM -> a = [h ; ELMo]                (batch, tokens, 2 hidden + ELMo)
       -> a~: attention of a to the other sentence
       -> [a ; a~ ; a - a~ ; a * a~] -> Linear, ReLU                         (batch, tokens, hidden)
       -> biLSTM -> [mean ; maximum] over the tokens                         (batch, 4 hidden)
[premise ; hypothesis] -> Linear, ReLU -> Linear -> labels                   (batch, labels)
"""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from elmo.ops.dropout import Dropout
from elmo.tasks.layers.attention import compare, mean_and_max
from elmo.tasks.layers.label_model import LabelModel
from elmo.tasks.layers.linear import linear
from elmo.tasks.layers.recurrent import BiLSTM, VariationalDropout
from elmo.tasks.snli.data import EntailmentSettings, SentencePair
from elmo.tasks.task import Vocabulary
from elmo.tasks.tokens.representation import TokenRepresentation, TokenVectors


class ESIM(LabelModel[SentencePair]):
    """Pairs of sentences -> labels."""

    def __init__(self, settings: EntailmentSettings, vocabulary: Vocabulary, tokens: TokenRepresentation) -> None:
        """`vocabulary`: its "labels"."""
        super().__init__(vocabulary["labels"])
        input_dim = tokens.input_dim
        self.tokens = tokens
        self.settings = settings
        size, dropout = settings.hidden_size, settings.dropout
        self.encoder = BiLSTM(input_dim, [size], dropout)
        self.comparison_dropout = VariationalDropout(dropout)
        self.project = linear(4 * (self.encoder.output_dim + tokens.output_dim), size)
        self.composition = BiLSTM(size, [size], dropout)
        self.classifier = nn.Sequential(
            Dropout(dropout),
            linear(4 * self.composition.output_dim, size),
            nn.ReLU(),
            Dropout(dropout),
            linear(size, len(self.labels)),
        )

    def is_decayed(self, name: str, parameter: nn.Parameter) -> bool:
        """The matrices of the biLSTMs and linear layers are; biases, static vectors and mixes are not."""
        return parameter.ndim > 1 and not name.startswith("tokens.")

    def forward(self, examples: Sequence[SentencePair]) -> Float[Tensor, "batch labels"]:
        """Logits."""
        is_read = self.settings.premises == "read"
        premise = self.tokens([example.premise if is_read else [] for example in examples])
        hypothesis = self.tokens([example.hypothesis for example in examples])
        return self.classify(self.encode(premise), premise.mask, self.encode(hypothesis), hypothesis.mask)

    def encode(self, vectors: TokenVectors) -> Float[Tensor, "batch tokens dim"]:
        """Each sentence by itself: the first biLSTM, and ELMo beside its output."""
        return vectors.with_output(self.encoder(vectors.input, vectors.mask))

    def classify(
        self,
        premise: Float[Tensor, "batch premise_tokens dim"],
        premise_mask: Bool[Tensor, "batch premise_tokens"],
        hypothesis: Float[Tensor, "batch hypothesis_tokens dim"],
        hypothesis_mask: Bool[Tensor, "batch hypothesis_tokens"],
    ) -> Float[Tensor, "batch labels"]:
        """Logits of encoded sentences."""
        pooled = [
            self.compose(compare(premise, hypothesis, hypothesis_mask), premise_mask),
            self.compose(compare(hypothesis, premise, premise_mask), hypothesis_mask),
        ]
        return self.classifier(torch.cat(pooled, dim=1))

    def compose(
        self, compared: Float[Tensor, "batch tokens dim"], mask: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch pooled"]:
        """A sentence's comparisons as one vector."""
        projected = torch.relu(self.project(self.comparison_dropout(compared)))
        return mean_and_max(self.composition(projected, mask), mask)
