"""The translation system whose encoder CoVe is: an encoder, a decoder with attention, and a generator of words.

    source vectors -> two bidirectional LSTM layers -> a context vector of each source token
    word before ; attentional vector before -> LSTM layers -> h
    attentional vector = tanh(W [sum of context vectors, weighted by softmax(h . A c) ; h]) -> next word

Source: McCann et al. 2017, section 3; Luong et al. 2015, 3.1 and 3.3 (general attention, input feeding);
docs/specification-tasks.md, 9.3.3. Unlike the authors' training, this one never attends to padding, and it drops out
less of what the decoder's first layer reads: target vectors once, not twice, what is fed back twice, not three times.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from elmo.shapes import Bool, Float, Int
from elmo_paper.cove.files import NUM_LAYERS

PADDING_ID, UNKNOWN_ID, BEGINNING_ID, END_ID = range(4)
SPECIAL_WORDS = ("<blank>", "<unk>", "<s>", "</s>")
_INITIAL_RANGE = 0.1

State = list[tuple[Tensor, Tensor]]
"""Of each decoder layer (h, c), (batch, rnn) each."""


@dataclass(frozen=True)
class Sizes:
    """What the shapes follow from."""

    word_dim: int
    """Dimensions of the word vectors of both languages."""
    cells: int
    """Per direction of the encoder; `rnn` below is twice as many."""
    num_words: int
    """Of the target language, `SPECIAL_WORDS` included."""
    num_layers: int = NUM_LAYERS


@dataclass(frozen=True)
class Read:
    """What the decoder sees of source sentences."""

    context: Float[Tensor, "batch tokens rnn"]
    """Zero at padding."""
    mask: Bool[Tensor, "batch tokens"]
    """True: attended to."""
    state: State
    """The decoder's first one: the encoder's last states, forward and backward joined."""


class Translator(nn.Module):
    """Source vectors and target words -> the log-probability of each next target word."""

    def __init__(self, sizes: Sizes, dropout: float = 0.0) -> None:
        """All parameters are uniform in ±0.1. `dropout`: while it trains."""
        super().__init__()
        rnn, layers = 2 * sizes.cells, sizes.num_layers
        self.sizes = sizes
        self.encoder = nn.LSTM(
            sizes.word_dim, sizes.cells, layers, batch_first=True, bidirectional=True, dropout=dropout
        )
        self.embedding = nn.Embedding(sizes.num_words, sizes.word_dim)
        self.decoder = nn.ModuleList(
            nn.LSTMCell(rnn if layer else sizes.word_dim + rnn, rnn) for layer in range(layers)
        )
        self.attention_in = nn.Linear(rnn, rnn, bias=False)
        self.attention_out = nn.Linear(2 * rnn, rnn, bias=False)
        self.generator = nn.Linear(rnn, sizes.num_words)
        self.dropout = nn.Dropout(dropout)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -_INITIAL_RANGE, _INITIAL_RANGE)

    def read(self, vectors: Float[Tensor, "batch tokens dim"], lengths: Int[Tensor, " batch"]) -> Read:
        """The encoder. `lengths`: tokens of each sentence, 1 or more; what is at padding doesn't matter."""
        packed = pack_padded_sequence(self.dropout(vectors), lengths.cpu(), batch_first=True, enforce_sorted=False)
        output, last = self.encoder(packed)
        context, _ = pad_packed_sequence(output, batch_first=True, total_length=vectors.shape[1])
        # torch has (layers * directions, batch, cells).
        h, c = (torch.cat([states[0::2], states[1::2]], dim=-1).unbind() for states in last)
        mask = torch.arange(vectors.shape[1], device=vectors.device) < lengths[:, None].to(vectors.device)
        return Read(self.dropout(context), mask, list(zip(h, c, strict=True)))

    def forward(
        self, read: Read, words: Int[Tensor, "batch steps"]
    ) -> tuple[Float[Tensor, "batch steps rnn"], Float[Tensor, "batch steps tokens"]]:
        """The attentional vectors, from which `generator` has the scores of the word after each of `words`, and how
        much each takes of each source token."""
        vectors, weights = zip(*self._steps(read, self.dropout(self.embedding(words)).unbind(1)), strict=True)
        return torch.stack(vectors, dim=1), torch.stack(weights, dim=1)

    def loss(self, read: Read, words: Int[Tensor, "batch positions"]) -> Float[Tensor, ""]:
        """The sum over all target words but the first of -log p; padding doesn't count."""
        following = words[:, 1:]
        real = following != PADDING_ID
        attended, _ = self(read, words[:, :-1])
        scores = self.generator(attended[real])
        return nn.functional.cross_entropy(scores, following[real], reduction="sum")

    @torch.no_grad()
    def translate(self, read: Read, longest: int) -> list[list[int]]:
        """The likeliest word at each step, up to the end of the sentence or `longest` words; never an unknown one."""
        words = [torch.full((len(read.mask),), BEGINNING_ID, device=read.mask.device)]
        for attended, _ in self._steps(read, (self.embedding(words[-1]) for _ in range(longest))):
            scores = self.generator(attended)
            scores[:, [PADDING_ID, UNKNOWN_ID, BEGINNING_ID]] = -torch.inf
            words.append(torch.where(words[-1] == END_ID, END_ID, scores.argmax(dim=-1)))
            if bool((words[-1] == END_ID).all()):
                break
        found = torch.stack([*words[1:], torch.full_like(words[0], END_ID)], dim=1).tolist()
        return [row[: row.index(END_ID)] for row in found]

    def _steps(self, read: Read, embedded: Iterable[Tensor]) -> Iterator[tuple[Tensor, Tensor]]:
        """(batch, rnn) and (batch, tokens) of each step, as from `forward`; a step's word is asked for when its turn
        comes."""
        # h . (A c) for all source tokens at once, instead of (A h) . c anew at each step.
        keys = read.context @ self.attention_in.weight
        state, fed = list(read.state), torch.zeros_like(read.state[0][0])
        for vectors in embedded:
            below = torch.cat([vectors, self.dropout(fed)], dim=-1)
            for layer, cell in enumerate(self.decoder):
                state[layer] = cell(self.dropout(below) if layer else below, state[layer])
                below = state[layer][0]
            scores = torch.einsum("btr,br->bt", keys, below).masked_fill(~read.mask, -torch.inf)
            weights = scores.softmax(dim=-1)
            summed = torch.einsum("bt,btr->br", weights, read.context)
            fed = self.dropout(torch.tanh(self.attention_out(torch.cat([summed, below], dim=-1))))
            yield fed, weights
