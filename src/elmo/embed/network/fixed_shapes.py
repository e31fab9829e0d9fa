"""Token vectors from torch's products, each of them, to the last bit, its token's own.

A matrix product may round differently when its shape differs. Were all new words of a call computed in one product,
a word's vector would depend on which others were new, thus on what the cache held and on where a run was resumed.
So every product has a shape the word itself decides: a fixed number of rows, cut at one of three widths.
"""

import numpy as np
import torch
from torch import Tensor

from elmo.engine.token_encoder import columns_used
from elmo.model.bilm import BiLM
from elmo.shapes import Float, Int
from elmo.text.token_map import TokenIds, TokenMap

# Words in a product, with one that fills the rest.
_ROWS = 256
# Columns a word may use: 8 characters and 16 with the two marks; longer words get the full width.
_WIDTHS = (10, 18)


def encode_in_fixed_shapes(bilm: BiLM, ids: TokenIds, count: int) -> Float[Tensor, "tokens projection"]:
    """The vectors of `count` tokens, on the biLM's device."""
    result = torch.empty(count, bilm.config.projection_size, dtype=torch.float32, device=bilm.device)
    widths = np.zeros(count, np.int64) if ids.characters is None else _widths(ids.characters)
    for width in np.unique(widths):
        same = np.flatnonzero(widths == width)
        for start in range(0, len(same), _ROWS - 1):
            chosen = same[start : start + _ROWS - 1]
            characters, words = _fillers(bilm.token_map, int(width))
            if characters is not None and ids.characters is not None:
                characters[: len(chosen)] = ids.characters[chosen]
            if words is not None and ids.words is not None:
                words[: len(chosen)] = ids.words[chosen]
            vectors = bilm.token_vectors(_on_device(characters, bilm), _on_device(words, bilm))
            result[torch.from_numpy(chosen).to(result.device)] = vectors[: len(chosen)]
    return result


def _on_device(ids: Int[np.ndarray, "*shape"] | None, bilm: BiLM) -> Int[Tensor, "*shape"] | None:
    return None if ids is None else torch.from_numpy(ids).to(bilm.device)


def _widths(characters: Int[np.ndarray, "tokens characters"]) -> Int[np.ndarray, " tokens"]:
    """For each row the columns kept for words like it."""
    most = characters.shape[1]
    limits = np.array([*(width for width in _WIDTHS if width < most), most])
    return limits[np.searchsorted(limits, columns_used(characters))]


def _fillers(
    token_map: TokenMap, width: int
) -> tuple[Int[np.ndarray, "rows characters"] | None, Int[np.ndarray, " rows"] | None]:
    """Ids of as many words of just that width: one of them always remains, so it decides where rows are cut."""
    characters = words = None
    if token_map.characters is not None:
        characters = np.repeat(token_map.characters.ids(["a" * (width - 2)]), _ROWS, axis=0)
    if token_map.words is not None:
        words = np.repeat(token_map.words.ids(token_map.boundary_tokens[:1]), _ROWS)
    return characters, words
