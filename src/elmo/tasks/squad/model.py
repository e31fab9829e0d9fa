"""Reader: questions about passages -> answers cut from the passages. Source: Clark and Gardner 2018.

tokens -> [char CNN ; static vectors ; ELMo] -> BiDAF++, with ELMo concatenated to the encoder's output
       -> start and end logits -> best span of at most `max_answer_tokens` tokens -> the passage from its first
          token's start to its last token's end
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from elmo.tasks.layers.attention import BiAttention, SelfAttention
from elmo.tasks.layers.characters import own_windows
from elmo.tasks.layers.linear import linear
from elmo.tasks.layers.recurrent import BiGRU, VariationalDropout
from elmo.tasks.squad.data import PredictedAnswer, Question
from elmo.tasks.squad.tokens import ReaderSettings
from elmo.tasks.task import Vocabulary
from elmo.tasks.task_model import TaskModel, log_mean_of
from elmo.tasks.tokens.representation import TokenRepresentation


def best_spans(
    start: Float[Tensor, "batch tokens"],
    end: Float[Tensor, "batch tokens"],
    mask: Bool[Tensor, "batch tokens"],
    max_tokens: int,
) -> Int[Tensor, "batch 2"]:
    """(first, last) token of the best span of at most `max_tokens` tokens, both inclusive.

    It has the highest sum of logits. Ties: the shorter span, then the one that starts first.

    `mask`: True at a token; every row needs one. The time grows with tokens times `max_tokens`, not with their square.
    """
    start = start.masked_fill(~mask, -torch.inf)
    end = end.masked_fill(~mask, -torch.inf)
    tokens = start.shape[1]
    best, found = torch.full_like(start[:, 0], -torch.inf), start.new_zeros(len(start), 2, dtype=torch.int64)
    for further in range(min(max_tokens, tokens)):  # shorter spans first, so that a tie keeps them
        score, first = (start[:, : tokens - further] + end[:, further:]).max(dim=1)
        better = score > best
        best = torch.where(better, score, best)
        span = torch.stack([first, first + further], dim=1)
        found = torch.where(better[:, None], span, found)
    return found


def padded_width(tokens: int) -> int:
    """`tokens`, or the next number of eight between a power of two and the next one; the same below 16.

    At most an eighth more, on average 4 %. oneDNN prepares itself for each new shape of a product, which costs about a
    millisecond and half a megabyte, and forgets it after 1,024 others; batches of passages have hundreds of widths.
    """
    step = max(1, 1 << max(0, tokens.bit_length() - 4))
    return -(-tokens // step) * step


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
        """The same, padded to this number of tokens."""
        more = tokens - self.mask.shape[1]
        output = None if self.elmo_output is None else functional.pad(self.elmo_output, (0, 0, 0, more))
        return Text(functional.pad(self.input, (0, 0, 0, more)), output, functional.pad(self.mask, (0, more)))


class BiDAF(nn.Module):
    """BiDAF++: passages and questions -> logits of the answer's first and last token.

        passage, question   (tokens, input_dim)
          -> biGRU, shared                               (tokens, 2 size); with ELMo + elmo_dim
          -> bi-attention of the passage to the question (tokens, 4 (2 size + elmo_dim))
          -> Linear, ReLU -> x                           (tokens, 2 size)
          -> x + [biGRU -> self-attention (tokens, 6 size) -> Linear, ReLU](x)
          -> biGRU -> start logits;  [x ; that biGRU's output] -> biGRU -> end logits

    Source: Clark and Gardner 2018.
    """

    def __init__(self, input_dim: int, elmo_dim: int, *, size: int, dropout: float = 0.0) -> None:
        """`elmo_dim`: of ELMo at the encoder's output, or 0; `size`: hidden units of each GRU and direction."""
        super().__init__()
        self.dropout = VariationalDropout(dropout)
        self.encoder = BiGRU(input_dim, size)
        self.attention = BiAttention(self.encoder.output_dim + elmo_dim)
        self.reduce = linear(self.attention.output_dim, 2 * size)
        self.residual_encoder = BiGRU(2 * size, size)
        self.self_attention = SelfAttention(2 * size)
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
        hidden = self.dropout(self.residual_encoder(self.dropout(read), passage.mask))
        residual = torch.relu(self.residual_reduce(self.self_attention(hidden, passage.mask)))
        read = self.dropout(read + residual)
        start_hidden = self.start_encoder(read, passage.mask)
        end_hidden = self.end_encoder(torch.cat([read, start_hidden], dim=2), passage.mask)
        return self.start(start_hidden).squeeze(2), self.end(end_hidden).squeeze(2)

    def _encode(self, text: Text) -> Float[Tensor, "batch tokens dim"]:
        hidden = self.dropout(self.encoder(self.dropout(text.input), text.mask))
        return hidden if text.elmo_output is None else torch.cat([hidden, text.elmo_output], dim=2)


class AnswerChances(NamedTuple):
    """Log probabilities of each token of a passage, minus infinity at padding."""

    start: Float[Tensor, "batch tokens"]
    """To be the answer's first token."""
    end: Float[Tensor, "batch tokens"]
    """To be its last one."""


class Reader(TaskModel[Question, PredictedAnswer]):
    """Questions -> answers."""

    def __init__(self, settings: ReaderSettings, vocabulary: Vocabulary, tokens: TokenRepresentation) -> None:
        """`vocabulary`: "characters" of the training data."""
        super().__init__()
        self.settings = settings
        self.tokens = tokens
        widths, longest = [settings.character_width], settings.max_characters
        self.characters = own_windows(settings, vocabulary, widths, max_characters=longest, dropout=settings.dropout)
        dim = tokens.input_dim + settings.character_filters
        self.network = BiDAF(dim, tokens.output_dim, size=settings.hidden_size, dropout=settings.dropout)

    def forward(self, examples: Sequence[Question]) -> AnswerChances:
        """Of each token of the passages to be the answer's first and its last."""
        passage = self._read([example.passage.tokens for example in examples])
        question = self._read([example.question.tokens for example in examples])
        start, end = (logits.masked_fill(~passage.mask, -torch.inf) for logits in self.network(passage, question))
        return AnswerChances(start.log_softmax(dim=1), end.log_softmax(dim=1))

    def loss_of(self, outputs: AnswerChances, examples: Sequence[Question]) -> Float[Tensor, ""]:
        """Cross-entropy of the answer's first token plus that of its last one, averaged over the questions."""
        # Of several answers a training step is given one, see `Task.drawn`; elsewhere the first one counts.
        gold = torch.tensor([example.answers[0].span for example in examples], device=outputs.start.device)
        return functional.nll_loss(outputs.start, gold[:, 0]) + functional.nll_loss(outputs.end, gold[:, 1])

    @property
    def outcomes(self) -> tuple[str, int]:
        """Spans up to its longest answer."""
        return "answers of at most this many tokens", self.settings.max_answer_tokens

    def decide(self, outputs: Sequence[AnswerChances], examples: Sequence[Question]) -> list[PredictedAnswer]:
        """By the means of the probabilities of each first and each last token."""
        start, end = log_mean_of([own.start for own in outputs]), log_mean_of([own.end for own in outputs])
        spans = best_spans(start, end, start > -torch.inf, self.settings.max_answer_tokens)
        scores = start.gather(1, spans[:, :1]) + end.gather(1, spans[:, 1:])
        rows = zip(examples, spans.tolist(), scores.exp().squeeze(1).tolist(), strict=True)
        return [PredictedAnswer.of(example.passage, (first, last), chance) for example, (first, last), chance in rows]

    def _read(self, sentences: Sequence[Sequence[str]]) -> Text:
        vectors = self.tokens(sentences)
        parts = [vectors.input] if self.characters is None else [self.characters(sentences), vectors.input]
        read = Text(torch.cat(parts, dim=2), vectors.output, vectors.mask)
        return read.padded(padded_width(vectors.mask.shape[1])) if vectors.mask.is_cpu else read
