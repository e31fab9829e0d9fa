"""TokenCache: token vectors remembered by word type, the least recently used forgotten first.

A token's vector depends on its characters alone, and the words of a text repeat: most of a call's words were in an
earlier one. All vectors lie in one matrix; a word is remembered as a row of it.
"""

from collections import OrderedDict
from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

DEFAULT_BYTES = 64 << 20

# What a word costs beside its vector, about: the string, its entry, the row's number.
_BYTES_PER_ENTRY = 256
# Longer words are not remembered: they hardly ever come back, and a word can be a megabyte.
_MAX_CHARACTERS = 64


class TokenCache:
    """Vectors of at most `capacity` words, in at most `num_bytes` bytes."""

    def __init__(self, num_bytes: int, dim: int, device: torch.device) -> None:
        self.capacity = max(0, num_bytes) // (4 * dim + _BYTES_PER_ENTRY)
        self.hits = 0
        """Tokens found since the cache was made."""
        self.misses = 0
        """Tokens not found since the cache was made."""
        self._rows: OrderedDict[str, int] = OrderedDict()
        self._vectors = torch.empty(self.capacity, dim, device=device)

    def __len__(self) -> int:
        return len(self._rows)

    def find(self, tokens: Sequence[str]) -> list[int | None]:
        """The row of each token, None if it is not here."""
        rows = [self._rows.get(token) for token in tokens]
        for token, row in zip(tokens, rows, strict=True):
            if row is not None:
                self._rows.move_to_end(token)
        found = sum(row is not None for row in rows)
        self.hits += found
        self.misses += len(rows) - found
        return rows

    def vectors(self, rows: Int[Tensor, " tokens"]) -> Float[Tensor, "tokens dim"]:
        """A copy of the vectors in these rows."""
        return self._vectors[rows]

    def add(self, tokens: Sequence[str], vectors: Float[Tensor, "tokens dim"]) -> None:
        """Remember tokens that are not here yet; of more than fit, the last ones."""
        kept = [place for place, token in enumerate(tokens) if len(token) <= _MAX_CHARACTERS]
        kept = kept[max(0, len(kept) - self.capacity) :]
        if not kept:
            return
        rows = []
        for place in kept:
            row = len(self._rows) if len(self._rows) < self.capacity else self._rows.popitem(last=False)[1]
            self._rows[tokens[place]] = row
            rows.append(row)
        device = self._vectors.device
        self._vectors[torch.tensor(rows, device=device)] = vectors[torch.tensor(kept, device=device)]

    def clear(self) -> None:
        """Forget every word."""
        self._rows.clear()
