"""CharacterCNN: a token's characters -> a vector, learned with the task. The baseline's; the biLM has its own.

Source: Ma and Hovy 2016 (characters of 16 dimensions, 128 filters of width 3, ReLU, maximum).
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from elmo.tasks.layers.character_ids import PADDING, CharacterIds, characters_of, distinct

__all__ = ["CharacterCNN", "characters_of"]


class CharacterCNN(nn.Module):
    """Reads each distinct token of a batch once. Tokens shorter than the filters are padded to their width."""

    def __init__(self, characters: Sequence[str], *, dim: int = 16, filters: int = 128, width: int = 3) -> None:
        """`characters`: those with a vector of their own; all others share one."""
        super().__init__()
        self._ids = CharacterIds(characters)
        self.embedding = nn.Embedding(len(self._ids), dim, padding_idx=PADDING)
        self.convolution = nn.Conv1d(dim, filters, width)
        self.output_dim = filters

    def forward(self, sentences: Sequence[Sequence[str]]) -> Float[Tensor, "batch tokens filters"]:
        """A batch's vectors; zeros after each sentence's end."""
        words, rows = distinct(sentences)
        nothing = self.convolution.weight.new_zeros(1, self.output_dim)
        table = torch.cat([nothing, self._read(words)])
        return functional.embedding(rows.to(table.device), table)

    def _read(self, words: list[str]) -> Float[Tensor, "words filters"]:
        width = self.convolution.kernel_size[0]
        ids = self._ids.of_words(words, min_length=width).to(self.convolution.weight.device)
        found = self.convolution(self.embedding(ids).transpose(1, 2))
        # Windows that begin after the last one with a character of the word don't count.
        last = (ids != PADDING).sum(dim=1).clamp(min=width) - width
        outside = torch.arange(found.shape[2], device=ids.device)[None, :] > last[:, None]
        return functional.relu(found.masked_fill(outside[:, None, :], -torch.inf).amax(dim=2))
