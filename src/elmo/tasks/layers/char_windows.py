"""CharacterWindows: a token's characters -> a vector, by filters of several widths.

characters -> embedding, dropout -> filters of each width, over every window that begins inside the token -> ReLU, max

Where a window reaches past the token's end it reads zeros, as many as it needs, so that a token's vector doesn't depend
on the other tokens of its batch. The reading models of Clark and Gardner 2018 and Lee et al. 2017 do likewise, up to
their batches' padding.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from elmo.ops.dropout import Dropout
from elmo.tasks.layers.character_ids import PADDING, CharacterIds, distinct

_LIMIT = 0.05


class CharacterWindows(nn.Module):
    """Reads each distinct token of a batch once."""

    def __init__(
        self,
        characters: Sequence[str],
        *,
        dim: int,
        filters: int,
        widths: Sequence[int],
        max_characters: int = 0,
        dropout: float = 0.0,
    ) -> None:
        """`characters`: those with a vector of their own; all others share one. `filters`: of each width.

        `max_characters`: longer tokens are cut; 0: none is. `dropout`: of each dimension of each character by itself.
        """
        super().__init__()
        self._ids = CharacterIds(characters)
        self._max_characters = max_characters or None
        self.embedding = nn.Embedding(len(self._ids), dim, padding_idx=PADDING)
        self.dropout = Dropout(dropout)
        convolutions = [nn.Conv1d(dim, filters, width) for width in widths]
        self.convolutions, self._widths = nn.ModuleList(convolutions), tuple(widths)
        self.output_dim = filters * len(widths)
        nn.init.uniform_(self.embedding.weight, -_LIMIT, _LIMIT)
        nn.init.zeros_(self.embedding.weight[PADDING].detach())
        for convolution in convolutions:
            nn.init.xavier_uniform_(convolution.weight)
            nn.init.zeros_(convolution.get_parameter("bias"))

    def forward(self, sentences: Sequence[Sequence[str]]) -> Float[Tensor, "batch tokens output_dim"]:
        """A batch's vectors; zeros after each sentence's end. A token without characters has zeros too."""
        words, rows = distinct(sentences)
        nothing = self.embedding.weight.new_zeros(1, self.output_dim)
        table = torch.cat([nothing, self._read([word[: self._max_characters] for word in words])])
        return functional.embedding(rows.to(table.device), table)

    def _read(self, words: list[str]) -> Float[Tensor, "words output_dim"]:
        ids = self._ids.of_words(words, min_length=1).to(self.embedding.weight.device)
        vectors = self.dropout(self.embedding(ids)).transpose(1, 2)
        inside = (ids != PADDING)[:, None, :]
        found = []
        for convolution, width in zip(self.convolutions, self._widths, strict=True):
            windows = convolution(functional.pad(vectors, (0, width - 1)))
            found.append(torch.where(inside, functional.relu(windows), 0).amax(dim=2))
        return torch.cat(found, dim=1)
