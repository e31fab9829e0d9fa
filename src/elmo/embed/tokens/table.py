"""TokenTable: distinct tokens -> token vectors that depend, to the last bit, on the token alone.

A matrix product may round differently when its shape differs. Were all new words of a call computed in one product,
a word's vector would depend on which others were new, thus on what the cache held and on where a run was resumed.
So every product has a shape the word itself decides: a fixed number of rows, cut at one of three widths.
The native library's products keep every row to itself: there words are only taken in the order of their lengths.
"""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from elmo.embed.tokens.cache import TokenCache
from elmo.model.bilm import BiLM
from elmo.ops.product import ComputeType
from elmo.process.thread_lock import ThreadLock

# Words in a product, with one that fills the rest: few enough for a single sentence, enough for the processor.
_ROWS = {"cpu": 16}
_ROWS_ELSEWHERE = 256
# Words in a product of the native library: a multiple of the six rows it takes at a time.
_ROWS_ALONE = 240
# Columns a word may use: 8 characters and 16 with the two marks; longer words get the full width.
_WIDTHS = (10, 18)


class TokenTable:
    """Token vectors of one biLM, computed once for each word as long as the cache remembers it."""

    def __init__(self, bilm: BiLM, cache_bytes: int, dtype: ComputeType = "float32") -> None:
        self.bilm = bilm
        self.dtype: ComputeType = dtype
        self._cache_bytes = cache_bytes
        self._lock = ThreadLock()
        self._made_for = self._weights_now()
        self.cache = self._new_cache()

    def vectors(self, tokens: Sequence[str]) -> Float[Tensor, "tokens projection"]:
        """One vector for each of some distinct tokens. Any number of threads may call it at once."""
        weights = self._weights_now()
        cache = self._cache_for(weights)
        device = self.bilm.device
        table = self._empty(len(tokens))
        new = cache.fill(tokens, table)
        if new:
            new_tokens = [tokens[place] for place in new]
            computed = self._computed(new_tokens)
            table[torch.tensor(new, device=device)] = computed
            if self._weights_now() == weights:
                cache.add(new_tokens, computed)
        return table

    def _computed(self, tokens: list[str]) -> Tensor:
        ids = self.bilm.token_map.ids(tokens)
        if self.bilm.token_encoder.stands_alone(self.dtype):
            return self._computed_alone(ids.characters, ids.words, len(tokens))
        result = self._empty(len(tokens))
        widths = np.zeros(len(tokens), np.int64) if ids.characters is None else self._widths(ids.characters)
        rows = _ROWS.get(self.bilm.device.type, _ROWS_ELSEWHERE)
        for width in np.unique(widths):
            same = np.flatnonzero(widths == width)
            for start in range(0, len(same), rows - 1):
                chosen = same[start : start + rows - 1]
                characters, words = self._fillers(int(width), rows)
                if characters is not None and ids.characters is not None:
                    characters[: len(chosen)] = ids.characters[chosen]
                if words is not None and ids.words is not None:
                    words[: len(chosen)] = ids.words[chosen]
                vectors = self.bilm.token_vectors(self._tensor(characters), self._tensor(words), self.dtype)
                result[torch.from_numpy(chosen).to(result.device)] = vectors[: len(chosen)]
        return result

    def _computed_alone(self, characters: np.ndarray | None, words: np.ndarray | None, count: int) -> Tensor:
        """The same, where a row's result does not depend on the other rows."""
        order = np.arange(count) if characters is None else np.argsort(_columns_used(characters), kind="stable")
        result = self._empty(count)
        for start in range(0, count, _ROWS_ALONE):
            chosen = order[start : start + _ROWS_ALONE]
            chosen_characters, chosen_words = (part if part is None else part[chosen] for part in (characters, words))
            vectors = self.bilm.token_vectors(self._tensor(chosen_characters), self._tensor(chosen_words), self.dtype)
            result[torch.from_numpy(chosen)] = vectors
        return result

    def _empty(self, count: int) -> Tensor:
        # With its type and device, because a program may have changed torch's defaults.
        return torch.empty(count, self.bilm.config.projection_size, dtype=torch.float32, device=self.bilm.device)

    def _widths(self, characters: np.ndarray) -> np.ndarray:
        """For each row the columns kept for words like it."""
        most = characters.shape[1]
        limits = np.array([*(width for width in _WIDTHS if width < most), most])
        return limits[np.searchsorted(limits, _columns_used(characters))]

    def _fillers(self, width: int, rows: int) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Ids of as many words of just that width: one of them always remains, so it decides where rows are cut."""
        token_map = self.bilm.token_map
        characters = words = None
        if token_map.characters is not None:
            characters = np.repeat(token_map.characters.ids(["a" * (width - 2)]), rows, axis=0)
        if token_map.words is not None:
            words = np.repeat(token_map.words.ids(token_map.boundary_tokens[:1]), rows)
        return characters, words

    def _tensor(self, ids: np.ndarray | None) -> Tensor | None:
        return None if ids is None else torch.from_numpy(ids).to(self.bilm.device)

    def _cache_for(self, weights: list[tuple[int, int]]) -> TokenCache:
        """The cache; a new one if the token encoder was trained, loaded anew or moved."""
        with self._lock:
            if weights != self._made_for:
                self._made_for, self.cache = weights, self._new_cache()
            return self.cache

    def _new_cache(self) -> TokenCache:
        return TokenCache(self._cache_bytes, self.bilm.config.projection_size, self.bilm.device)

    def _weights_now(self) -> list[tuple[int, int]]:
        tensors = self.bilm.token_encoder.parameters()
        return [(tensor.data_ptr(), 0 if tensor.is_inference() else tensor._version) for tensor in tensors]


def _columns_used(characters: np.ndarray) -> np.ndarray:
    """For each row the columns up to the last one that differs from the row's end."""
    differs = characters != characters[:, -1:]
    return np.where(differs.any(axis=1), characters.shape[1] - differs[:, ::-1].argmax(axis=1), 0)
