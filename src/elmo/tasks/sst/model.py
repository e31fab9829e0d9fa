"""The biattentive classification network. Source: McCann et al. 2017; Peters et al. 2018.

tokens -> [static vectors ; ELMo ; char CNN] -> Linear, ReLU -> biLSTM -> x = [h ; ELMo]
       -> a = attention of x to itself -> biLSTM over [x ; x - a ; x * a]
       -> [largest ; smallest ; mean ; self-attentive mean] over the tokens -> maxout or ReLU layers -> labels
"""

from collections.abc import Sequence
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from elmo.ops.dropout import Dropout
from elmo.tasks.layers.attention import SelfAttentivePooling, attend, pool
from elmo.tasks.layers.characters import own_characters, with_characters
from elmo.tasks.layers.label_model import LabelModel
from elmo.tasks.layers.linear import Maxout, linear
from elmo.tasks.layers.recurrent import BiLSTM
from elmo.tasks.sst.data import ClassifierSettings, LabelledSentence
from elmo.tasks.task import Vocabulary
from elmo.tasks.tokens.representation import TokenRepresentation


class Classifier(LabelModel[LabelledSentence]):
    """Sentences -> labels. As the model classifies one sentence, not a pair, it attends to itself."""

    def __init__(self, settings: ClassifierSettings, vocabulary: Vocabulary, tokens: TokenRepresentation) -> None:
        """`vocabulary`: "labels"; "characters" too if there is a char CNN, which the original model doesn't have."""
        super().__init__(vocabulary["labels"])
        input_dim = tokens.input_dim + settings.character_filters
        self.tokens = tokens
        self.characters = own_characters(settings, vocabulary)
        size = settings.hidden_size
        self.input_dropout = Dropout(settings.input_dropout)
        self.project = linear(input_dim, size)
        self.projection_dropout = Dropout(settings.projection_dropout)
        self.encoder = BiLSTM(size, [size])
        self.integrator = BiLSTM(3 * (self.encoder.output_dim + tokens.output_dim), [size])
        self.attentive = SelfAttentivePooling(self.integrator.output_dim)
        self.head = _head(4 * self.integrator.output_dim, len(self.labels), settings)

    def forward(self, examples: Sequence[LabelledSentence]) -> Float[Tensor, "batch labels"]:
        """Logits."""
        sentences = [example.tokens for example in examples]
        vectors = self.tokens(sentences)
        given = with_characters(vectors.input, self.characters, sentences)
        read = self.projection_dropout(torch.relu(self.project(self.input_dropout(given))))
        encoded = vectors.with_output(self.encoder(read, vectors.mask))
        attended = attend(encoded, encoded, vectors.mask)
        together = torch.cat([encoded, encoded - attended, encoded * attended], dim=2)
        integrated = self.integrator(together, vectors.mask)
        pooled = [pool(integrated, vectors.mask), self.attentive(integrated, vectors.mask)]
        return self.head(torch.cat(pooled, dim=1))


def _head(dim: int, num_labels: int, settings: ClassifierSettings) -> nn.Sequential:
    """Each layer halves the width; the last one gives the labels."""
    dims = [dim >> place for place in range(len(settings.head_dropouts) + 1)]
    layers: list[nn.Module] = [Dropout(settings.pooled_dropout)]
    for (read, written), chance in zip(pairwise(dims), settings.head_dropouts, strict=True):
        if settings.head == "maxout":
            layers.append(Maxout(read, written, settings.maxout_pieces))
        else:
            layers += [linear(read, written), nn.ReLU()]
        layers.append(Dropout(chance))
    is_maxout = settings.head == "maxout"
    layers.append(Maxout(dims[-1], num_labels, settings.maxout_pieces) if is_maxout else linear(dims[-1], num_labels))
    return nn.Sequential(*layers)


class LastState(LabelModel[LabelledSentence]):
    """Sentences -> labels, from the last state of a language model. Source: Dai and Le 2015.

    <S> and the tokens -> forward language model -> its state after the last token -> Linear, ReLU -> Linear -> labels

    All weights are trained with the task if `train_bilm` says so; `layers` says which layers the state has (top: the
    LSTM's last one, as in the source). Dropout on the state is the setting `elmo_dropout`.
    """

    def __init__(self, settings: ClassifierSettings, vocabulary: Vocabulary, tokens: TokenRepresentation) -> None:
        """`vocabulary`: "labels". Raises ConfigError if the encoder isn't a forward language model."""
        super().__init__(vocabulary["labels"])
        tokens.require_forward("the network 'last_state'")
        self.tokens = tokens
        hidden = linear(tokens.input_dim, settings.hidden_size)
        self.head = nn.Sequential(
            hidden, nn.ReLU(), Dropout(settings.pooled_dropout), linear(settings.hidden_size, len(self.labels))
        )

    def forward(self, examples: Sequence[LabelledSentence]) -> Float[Tensor, "batch labels"]:
        """Logits; the state of an empty sentence is zero."""
        vectors = self.tokens([example.tokens for example in examples])
        after = functional.pad(vectors.input, (0, 0, 1, 0))  # row n: the state after n tokens
        return self.head(after[torch.arange(len(after)), vectors.mask.sum(dim=1)])
