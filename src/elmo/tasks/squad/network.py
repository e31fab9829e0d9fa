"""BiDAF++: bidirectional attention and self-attention over a passage, in the shapes of Clark and Gardner 2018.

passage, question   (tokens, input_dim)
  -> biGRU, shared                               (tokens, 2 size); with ELMo + elmo_dim
  -> bi-attention of the passage to the question (tokens, 4 (2 size + elmo_dim)) -> Linear, ReLU -> x (tokens, 2 size)
  -> x + [biGRU -> self-attention (tokens, 6 size) -> Linear, ReLU](x)
  -> biGRU -> start logits;  [x ; that biGRU's output] -> biGRU -> end logits
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional

from elmo.tasks.layers.linear import linear
from elmo.tasks.layers.recurrent.bigru import BiGRU
from elmo.tasks.layers.recurrent.bilstm import VariationalDropout
from elmo.tasks.layers.trilinear.bi_attention import BiAttention
from elmo.tasks.layers.trilinear.self_attention import SelfAttention


@dataclass(frozen=True)
class Text:
    """The vectors of a batch of passages or questions."""

    input: Float[Tensor, "batch tokens input_dim"]
    """What the encoder reads."""
    elmo_output: Float[Tensor, "batch tokens elmo_dim"] | None
    """ELMo, to be concatenated with the encoder's output; None: nothing is."""
    mask: Bool[Tensor, "batch tokens"]
    """True at a token; every row has one."""

    def padded(self, tokens: int) -> "Text":
        """The same as a batch of so many tokens; those that are added are padding."""
        more = tokens - self.mask.shape[1]
        output = None if self.elmo_output is None else functional.pad(self.elmo_output, (0, 0, 0, more))
        return Text(functional.pad(self.input, (0, 0, 0, more)), output, functional.pad(self.mask, (0, more)))


class BiDAF(nn.Module):
    """Passages and questions -> logits of the answer's first and last token."""

    def __init__(
        self, input_dim: int, elmo_dim: int, *, size: int, dropout: float = 0.0, null_slot: bool = True
    ) -> None:
        """`elmo_dim`: of ELMo at the encoder's output, or 0; `size`: hidden units of each GRU and direction;
        `null_slot`: see `SelfAttention`."""
        super().__init__()
        self.dropout = VariationalDropout(dropout)
        self.encoder = BiGRU(input_dim, size)
        self.attention = BiAttention(self.encoder.output_dim + elmo_dim)
        self.reduce = linear(self.attention.output_dim, 2 * size)
        self.residual_encoder = BiGRU(2 * size, size)
        self.self_attention = SelfAttention(2 * size, null_slot=null_slot)
        self.residual_reduce = linear(self.self_attention.output_dim, 2 * size)
        self.start_encoder = BiGRU(2 * size, size)
        self.end_encoder = BiGRU(4 * size, size)
        self.start, self.end = linear(2 * size, 1), linear(2 * size, 1)

    def forward(
        self, passage: Text, question: Text
    ) -> tuple[Float[Tensor, "batch tokens"], Float[Tensor, "batch tokens"]]:
        """Logits of the start and of the end at each token of the passage; those at padding mean nothing."""
        merged = self.attention(self._encode(passage), self._encode(question), passage.mask, question.mask)
        read = torch.relu(self.reduce(merged))
        read = self.dropout(read + self._residual(read, passage.mask))
        start_hidden = self.start_encoder(read, passage.mask)
        end_hidden = self.end_encoder(torch.cat([read, start_hidden], dim=2), passage.mask)
        return self.start(start_hidden).squeeze(2), self.end(end_hidden).squeeze(2)

    def _encode(self, text: Text) -> Float[Tensor, "batch tokens dim"]:
        hidden = self.dropout(self.encoder(self.dropout(text.input), text.mask))
        return hidden if text.elmo_output is None else torch.cat([hidden, text.elmo_output], dim=2)

    def _residual(
        self, read: Float[Tensor, "batch tokens dim"], mask: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch tokens dim"]:
        hidden = self.dropout(self.residual_encoder(self.dropout(read), mask))
        return torch.relu(self.residual_reduce(self.self_attention(hidden, mask)))
