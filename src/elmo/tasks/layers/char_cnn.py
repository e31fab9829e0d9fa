"""CharacterCNN: a token's characters -> a vector, learned with the task. The baseline's; the biLM has its own.

Source: specification 7.6 (characters of 16 numbers, 128 filters of width 3, ReLU, maximum).
"""

from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

PADDING, UNKNOWN = 0, 1


class CharacterCNN(nn.Module):
    """Reads each distinct token of a batch once. Tokens shorter than the filters are padded to their width."""

    def __init__(self, characters: Sequence[str], *, dim: int = 16, filters: int = 128, width: int = 3) -> None:
        """`characters`: those with a vector of their own; all others share one."""
        super().__init__()
        self._ids = {character: number for number, character in enumerate(characters, start=UNKNOWN + 1)}
        self.embedding = nn.Embedding(len(self._ids) + 2, dim, padding_idx=PADDING)
        self.convolution = nn.Conv1d(dim, filters, width)
        self.output_dim = filters

    def forward(self, sentences: Sequence[Sequence[str]]) -> Float[Tensor, "batch tokens filters"]:
        """A batch's vectors; behind each sentence there are zeros."""
        places: dict[str, int] = {}
        tokens = max(map(len, sentences), default=0)
        rows = torch.zeros(len(sentences), tokens, dtype=torch.int64)
        for line, sentence in zip(rows, sentences, strict=True):
            line[: len(sentence)] = torch.tensor([places.setdefault(token, len(places) + 1) for token in sentence])
        nothing = self.convolution.bias.new_zeros(1, self.output_dim)
        table = torch.cat([nothing, self._read(list(places))])
        return functional.embedding(rows.to(table.device), table)

    def _read(self, words: list[str]) -> Float[Tensor, "words filters"]:
        width = self.convolution.kernel_size[0]
        longest = max([width, *map(len, words)])
        ids = torch.full((len(words), longest), PADDING)
        for line, word in zip(ids, words, strict=True):
            line[: len(word)] = torch.tensor([self._ids.get(character, UNKNOWN) for character in word])
        ids = ids.to(self.convolution.bias.device)
        found = self.convolution(self.embedding(ids).transpose(1, 2))
        # Windows that begin behind the last one with a character of the word don't count.
        last = (ids != PADDING).sum(dim=1).clamp(min=width) - width
        outside = torch.arange(found.shape[2], device=ids.device)[None, :] > last[:, None]
        return functional.relu(found.masked_fill(outside[:, None, :], -torch.inf).amax(dim=2))


def characters_of(words: Iterable[str]) -> list[str]:
    """The characters that occur, in a fixed order."""
    return sorted({character for word in words for character in word})
