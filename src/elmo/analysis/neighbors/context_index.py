"""ContextIndex: the vectors of every token of a text, by layer, searched exactly.

    index.json       schema, model, counts, SHA-256 of every other file
    sentences.txt    one tokenized sentence per line
    words.txt        the distinct tokens, one per line
    token_words.npy  (tokens,) int32: line of words.txt
    starts.npy       (sentences + 1,) int64: first token of each sentence
    layer-0.npy      (words, dim) float16 unit vectors: layer 0 doesn't depend on the sentence
    layer-1.npy ...  (tokens, dim) float16 unit vectors

Vectors are memory-mapped; those of a layer that is searched are kept in memory as float32 if all of them fit into
`MEMORY_BYTES`. Searching never changes an index, so any number of threads may do so.
"""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import Float

from elmo.analysis.neighbors.index_files import open_files
from elmo.errors import ConfigError

MEMORY_BYTES = 512 << 20
_CHUNK_ROWS = 1 << 16

Which = Literal["any", "same", "other"]


@dataclass(frozen=True)
class Hit:
    """One token near the query."""

    cosine: float
    sentence: int
    """Its line in the index, from 0."""
    position: int
    """Its place in the sentence."""
    tokens: tuple[str, ...]
    """The whole sentence."""

    @property
    def word(self) -> str:
        """The token itself."""
        return self.tokens[self.position]


class ContextIndex:
    """An index that was built from a text; see the module for its files."""

    def __init__(self, folder: Path | str) -> None:
        """Opens an index. Raises TextError if files are missing, damaged or don't fit together."""
        found = open_files(Path(folder))
        self.folder, self.facts = Path(folder), found.facts
        self.sentences, self.words = found.sentences, found.words
        self._token_words, self._starts, self._layers = found.token_words, found.starts, found.layers
        self._rows_of = {word: row for row, word in enumerate(self.words)}
        self._in_memory: dict[int, np.ndarray] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._token_words)

    def __repr__(self) -> str:
        sizes = f"{len(self):,} tokens, {self.num_layers} layers, {self.dim} dimensions"
        return f"ContextIndex({str(self.folder)!r}: {sizes})"

    @property
    def num_layers(self) -> int:
        """Layers, the token layer included."""
        return len(self._layers)

    @property
    def dim(self) -> int:
        """Dimensions of a vector."""
        return self._layers[0].shape[1]

    def occurrences(self, word: str) -> np.ndarray:
        """(occurrences,) int64: the tokens that are exactly this word, in the order of the text."""
        row = self._rows_of.get(word)
        return np.flatnonzero(self._token_words == row) if row is not None else np.zeros(0, dtype=np.int64)

    def place(self, token: int) -> tuple[int, int]:
        """(sentence, position) of a token."""
        sentence = int(np.searchsorted(self._starts, token, side="right")) - 1
        return sentence, int(token - self._starts[sentence])

    def vectors(self, tokens: np.ndarray, layer: int) -> Float[np.ndarray, "tokens dim"]:
        """Unit vectors of some tokens, as float32."""
        layer = self._checked(layer)
        rows = self._token_words[tokens] if layer == 0 else tokens
        return np.asarray(self._layers[layer][rows], dtype=np.float32)

    def search(
        self,
        vector: Float[np.ndarray, " dim"],
        layer: int,
        *,
        count: int = 10,
        word: str | None = None,
        which: Which = "any",
        not_sentence: tuple[str, ...] | None = None,
    ) -> list[Hit]:
        """The nearest tokens by cosine, nearest first, at most one of a sentence; equal sentences count as one.

        `which`: "same": only occurrences of `word`; "other": only other words, each with its nearest occurrence.
        `not_sentence`: the query's own sentence, which is left out wherever it stands in the text.
        Raises ConfigError for a layer that the index doesn't have and for a vector of another size.
        """
        cosines = self._cosines(np.asarray(vector, dtype=np.float32), self._checked(layer))
        if which != "any":
            is_word = self._token_words == self._rows_of.get(word or "", -1)
            cosines = np.where(is_word if which == "same" else ~is_word, cosines, -np.inf)
        return self._best(cosines, count, {not_sentence}, each_word_once=which == "other")

    def _cosines(self, vector: np.ndarray, layer: int) -> Float[np.ndarray, " tokens"]:
        if vector.shape != (self.dim,):
            raise ConfigError(
                f"the vector has shape {vector.shape}, but the index holds vectors of shape ({self.dim},). Use the "
                f"model that the index was built with: {self.facts.model}."
            )
        length = float(np.linalg.norm(vector))
        if not np.isfinite(length):
            raise ConfigError("the vector is not finite (NaN or inf). Pass one that a model gave.")
        unit = vector / (length or 1.0)
        found = self._products(unit, layer)
        return found[self._token_words] if layer == 0 else found

    def _products(self, unit: np.ndarray, layer: int) -> np.ndarray:
        rows = self._loaded(layer)
        if rows is not None:
            return rows @ unit
        stored, found = self._layers[layer], np.empty(len(self._layers[layer]), dtype=np.float32)
        for start in range(0, len(stored), _CHUNK_ROWS):
            found[start : start + _CHUNK_ROWS] = stored[start : start + _CHUNK_ROWS].astype(np.float32) @ unit
        return found

    def _loaded(self, layer: int) -> np.ndarray | None:
        """The layer as float32 in memory, or None if all layers together would take too much."""
        if 4 * sum(stored.size for stored in self._layers) > MEMORY_BYTES:
            return None
        with self._lock:
            if layer not in self._in_memory:
                self._in_memory[layer] = self._layers[layer].astype(np.float32)
            return self._in_memory[layer]

    def _best(
        self, cosines: np.ndarray, count: int, left_out: set[tuple[str, ...] | None], *, each_word_once: bool
    ) -> list[Hit]:
        hits: list[Hit] = []
        words: set[str] = set()
        for token in _descending(cosines, 8 * count):
            if len(hits) == count or not np.isfinite(cosines[token]):
                break
            sentence, position = self.place(int(token))
            tokens = self.sentences[sentence]
            if tokens in left_out or (each_word_once and tokens[position] in words):
                continue
            words.add(tokens[position])
            left_out = left_out | {tokens}
            hits.append(Hit(float(cosines[token]), sentence, position, tokens))
        return hits

    def _checked(self, layer: int) -> int:
        if not -self.num_layers <= layer < self.num_layers:
            raise ConfigError(f"layer is {layer}, but the index has layers 0 to {self.num_layers - 1}. Choose one.")
        return layer % self.num_layers


def _descending(cosines: np.ndarray, first: int) -> Iterator[np.integer]:
    """Places from the highest value down: a few by partition, and all the others only if they are asked for."""
    first = min(first, len(cosines))
    if first < len(cosines):
        top = np.argpartition(-cosines, first - 1)[:first] if first else np.zeros(0, dtype=np.int64)
        # Equal values in the order of the text, so that results don't depend on the partition.
        yield from top[np.lexsort((top, -cosines[top]))]
        lowest = cosines[top].min() if first else np.inf
        rest = np.flatnonzero(cosines <= lowest)
        rest = rest[~np.isin(rest, top)]
        yield from rest[np.lexsort((rest, -cosines[rest]))]
        return
    yield from np.lexsort((np.arange(len(cosines)), -cosines))
