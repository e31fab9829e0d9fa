"""StaticEmbedding: a vector for each known word, the same in every sentence; fixed, or trained with the task."""

from collections.abc import Collection, Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from elmo.static.vectors import StaticVectors


class StaticEmbedding(nn.Module):
    """Looks words up as they are written, else in lower case (GloVe 6B knows no other), else gives zeros.

    Its `state_dict` has the trained vectors only; the fixed ones are `vectors()`, to be saved beside the model once.
    """

    def __init__(self, static: StaticVectors, trained_words: Collection[str] = ()) -> None:
        """`trained_words`: those whose vectors are trained. Each starts from what a lookup of it gives: the vector of
        its lower-cased form if `static` has no other, zeros if it has neither."""
        super().__init__()
        trained = list(dict.fromkeys(trained_words))
        start = static.lookup(trained)
        known = dict(zip(static.words, static.vectors, strict=True))
        for word in trained:
            known.pop(word, None)
        self.words = [*trained, *known]
        # Row 0 is every unknown word's and the padding's.
        self._rows = {word: row for row, word in enumerate(self.words, start=1)}
        nothing = np.zeros((1, static.dim), np.float32)
        self.trained = nn.Parameter(torch.from_numpy(np.concatenate([nothing, start])), requires_grad=bool(trained))
        fixed = np.array(list(known.values()), np.float32).reshape(-1, static.dim)
        self.register_buffer("fixed", torch.from_numpy(fixed), persistent=False)

    @property
    def dim(self) -> int:
        """Dimensions of a vector."""
        return self.trained.shape[1]

    def vectors(self) -> StaticVectors:
        """All words with their vectors as they are now."""
        table = torch.cat([self.trained[1:], self.get_buffer("fixed")])
        return StaticVectors(tuple(self.words), table.detach().cpu().numpy())

    def row(self, word: str) -> int:
        """The row of a word, as written or in lower case; 0: it has none."""
        return self._rows.get(word) or self._rows.get(word.lower(), 0)

    def forward(self, sentences: Sequence[Sequence[str]]) -> Float[Tensor, "batch tokens dim"]:
        """A batch's vectors; zero for unknown words and after the end of each sentence."""
        rows = torch.zeros(len(sentences), max(map(len, sentences), default=0), dtype=torch.int64)
        for line, sentence in zip(rows, sentences, strict=True):
            line[: len(sentence)] = torch.tensor([self.row(word) for word in sentence])
        rows = rows.to(self.trained.device)
        num_trained = len(self.trained)
        # The gradient of row 0, which is nothing's vector, is left out.
        vectors = functional.embedding(rows.where(rows < num_trained, 0), self.trained, padding_idx=0)
        table = self.get_buffer("fixed")
        if len(table) == 0:
            return vectors
        fixed = functional.embedding((rows - num_trained).clamp(min=0), table)
        return torch.where((rows >= num_trained)[:, :, None], fixed, vectors)
