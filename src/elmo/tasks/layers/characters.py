"""The char CNN of a task's own model: filters of one width with padding, or of several widths over all windows.

A character is a number: 0 is padding, 1 every unknown character. Each distinct token of a batch is read once.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from elmo.ops.dropout import Dropout
from elmo.tasks.settings import CharacterSettings
from elmo.tasks.task import Vocabulary

PADDING, UNKNOWN = 0, 1


class CharacterIds:
    """The characters that have a vector of their own."""

    def __init__(self, characters: Sequence[str]) -> None:
        self._ids = {character: number for number, character in enumerate(dict.fromkeys(characters), start=UNKNOWN + 1)}

    def __len__(self) -> int:
        """How many vectors there are, those of padding and of unknown characters included."""
        return len(self._ids) + UNKNOWN + 1

    def of_words(self, words: Sequence[str], min_length: int) -> Int[Tensor, "words characters"]:
        """As many columns as the longest word has characters, at least `min_length`."""
        longest = max([min_length, *map(len, words)])
        ids = torch.full((len(words), longest), PADDING)
        for line, word in zip(ids, words, strict=True):
            line[: len(word)] = torch.tensor([self._ids.get(character, UNKNOWN) for character in word])
        return ids


def of_distinct(
    sentences: Sequence[Sequence[str]], read: Callable[[list[str]], Float[Tensor, "words dim"]]
) -> Float[Tensor, "batch tokens dim"]:
    """What `read` gives for each token of a batch, called once with the distinct ones; zeros at padding."""
    places: dict[str, int] = {}
    rows = torch.zeros(len(sentences), max(map(len, sentences), default=0), dtype=torch.int64)
    for line, sentence in zip(rows, sentences, strict=True):
        line[: len(sentence)] = torch.tensor([places.setdefault(token, len(places) + 1) for token in sentence])
    found = read(list(places))
    table = torch.cat([found.new_zeros(1, found.shape[1]), found])
    return functional.embedding(rows.to(table.device), table)


class CharacterCNN(nn.Module):
    """Characters -> filters of one width -> maximum, ReLU. Tokens shorter than the filters are padded to their width.

    Source: Ma and Hovy 2016 (characters of 16 dimensions, 128 filters of width 3).
    """

    def __init__(self, characters: Sequence[str], *, dim: int = 16, filters: int = 128, width: int = 3) -> None:
        """`characters`: those with a vector of their own; all others share one."""
        super().__init__()
        self._ids = CharacterIds(characters)
        self.embedding = nn.Embedding(len(self._ids), dim, padding_idx=PADDING)
        self.convolution = nn.Conv1d(dim, filters, width)
        self.output_dim = filters

    def forward(self, sentences: Sequence[Sequence[str]]) -> Float[Tensor, "batch tokens filters"]:
        """A batch's vectors; zeros after each sentence's end."""
        return of_distinct(sentences, self._read)

    def _read(self, words: list[str]) -> Float[Tensor, "words filters"]:
        width = self.convolution.kernel_size[0]
        ids = self._ids.of_words(words, min_length=width).to(self.convolution.weight.device)
        found = self.convolution(self.embedding(ids).transpose(1, 2))
        # Windows that begin after the last one with a character of the word don't count.
        last = (ids != PADDING).sum(dim=1).clamp(min=width) - width
        outside = torch.arange(found.shape[2], device=ids.device)[None, :] > last[:, None]
        return functional.relu(found.masked_fill(outside[:, None, :], -torch.inf).amax(dim=2))


_LIMIT = 0.05


class CharacterWindows(nn.Module):
    """Characters -> dropout -> filters of several widths, over every window that begins inside the token -> ReLU, max.

    Where a window reaches past the token's end it reads zeros, so that a token's vector doesn't depend on the other
    tokens of its batch; Clark and Gardner 2018 and Lee et al. 2017 do likewise, up to their batches' padding.
    """

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
        return of_distinct(sentences, self._read)

    def _read(self, words: list[str]) -> Float[Tensor, "words output_dim"]:
        cut = [word[: self._max_characters] for word in words]
        ids = self._ids.of_words(cut, min_length=1).to(self.embedding.weight.device)
        vectors = self.dropout(self.embedding(ids)).transpose(1, 2)
        inside = (ids != PADDING)[:, None, :]
        found = []
        for convolution, width in zip(self.convolutions, self._widths, strict=True):
            windows = convolution(functional.pad(vectors, (0, width - 1)))
            found.append(torch.where(inside, functional.relu(windows), 0).amax(dim=2))
        return torch.cat(found, dim=1)


def own_characters(settings: CharacterSettings, vocabulary: Vocabulary) -> CharacterCNN | None:
    """A new char CNN over the "characters" of the vocabulary; None if the settings have no filters."""
    if not settings.character_filters:
        return None
    return CharacterCNN(
        vocabulary["characters"],
        dim=settings.character_vector,
        filters=settings.character_filters,
        width=settings.character_width,
    )


def own_windows(settings: Any, vocabulary: Vocabulary, widths: Sequence[int], **more: Any) -> CharacterWindows | None:
    """Like `own_characters`, with filters of several widths; `more`: other arguments of `CharacterWindows`."""
    dim, filters = settings.character_vector, settings.character_filters
    return (
        CharacterWindows(vocabulary["characters"], dim=dim, filters=filters, widths=widths, **more) if filters else None
    )


def with_characters(
    vectors: Float[Tensor, "batch tokens dim"], characters: CharacterCNN | None, sentences: Sequence[Sequence[str]]
) -> Float[Tensor, "batch tokens more_dim"]:
    """[vectors ; vectors of the task's own char CNN], if it has one."""
    return vectors if characters is None else torch.cat([vectors, characters(sentences)], dim=2)
