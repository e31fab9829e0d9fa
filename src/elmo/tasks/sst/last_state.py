"""Classification from the last state of a language model. Source: Dai and Le 2015.

<S> and the tokens -> forward language model -> its state after the last token -> Linear, ReLU -> Linear -> labels

All weights are trained with the task if `train_bilm` says so; `layers` says which layers the state has (top: the LSTM's
last one, as in the source).
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from elmo.ops.dropout import Dropout
from elmo.tasks.layers.linear import linear
from elmo.tasks.sst.data import LabelledSentence
from elmo.tasks.sst.settings import ClassifierSettings
from elmo.tasks.task import Vocabulary
from elmo.tasks.task_model import LabelModel
from elmo.tasks.tokens.representation import TokenRepresentation


class LastState(LabelModel[LabelledSentence]):
    """Sentences -> labels. Dropout on the state is the setting `elmo_dropout`."""

    def __init__(self, settings: ClassifierSettings, vocabulary: Vocabulary, tokens: TokenRepresentation) -> None:
        """`vocabulary`: "labels". Raises ConfigError if the encoder isn't a forward language model."""
        super().__init__(vocabulary["labels"])
        tokens.require_forward("the network 'last_state'")
        self.tokens = tokens
        hidden = linear(tokens.require_input(), settings.hidden_size)
        self.head = nn.Sequential(
            hidden, nn.ReLU(), Dropout(settings.pooled_dropout), linear(settings.hidden_size, len(self.labels))
        )

    def forward(self, examples: Sequence[LabelledSentence]) -> Float[Tensor, "batch labels"]:
        """Logits; the state of an empty sentence is zero."""
        vectors = self.tokens([example.tokens for example in examples])
        after = functional.pad(vectors.input, (0, 0, 1, 0))  # row n: the state after n tokens
        return self.head(after[torch.arange(len(after)), vectors.mask.sum(dim=1)])
