"""ContextIndex: the vectors of every token of a text, by layer, searched exactly.

    index.json       schema, model, counts, SHA-256 of every other file
    sentences.txt    one tokenized sentence per line
    words.txt        the distinct tokens, one per line
    token_words.npy  (tokens,) int32: line of words.txt
    starts.npy       (sentences + 1,) int64: first token of each sentence
    lengths.npy      (layers, tokens) float32: lengths of the vectors before they were made unit vectors
    layer-0.npy      (words, dim) float16 unit vectors: layer 0 doesn't depend on the sentence
    layer-1.npy ...  (tokens, dim) float16 unit vectors

Vectors are memory-mapped, and checked before a layer is first used; those of a layer that is searched are kept in
memory as float32 if all of them fit into `MEMORY_BYTES`. Searching never changes an index, so any number of threads may
do so.
"""

import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Annotated, Literal

import numpy as np

from elmo.analysis.neighbors.index_files import open_files
from elmo.setting_checks import PositiveInt, from_to, require_setting, require_value
from elmo.shapes import Float, Int

# 200,000 tokens of small-en, the most that `elmo explore` indexes, take 0.8 GB. In memory, a search is ten times as
# fast as with a conversion from float16.
MEMORY_BYTES = 1 << 30
_CHUNK_ROWS = 1 << 16

Which = Literal["any", "same", "other"]
Layer = int | np.integer
LayerOrWeights = Layer | Sequence[float]
"""A layer (0: the token layer, -1: the top one), or a weight for each layer: the vectors' weighted sum."""


def unit(vectors: Float[np.ndarray, "... dim"]) -> Float[np.ndarray, "... dim"]:
    """Scaled to length 1; zeros stay zeros."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


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
        self._token_words, self._starts = found.token_words, found.starts
        self._layers, self._lengths = found.layers, found.lengths
        self._rows_of = {word: row for row, word in enumerate(self.words)}
        self._in_memory: dict[int, np.ndarray] = {}
        self._means: dict[int, np.ndarray] = {}
        self._products_of_layers: Float[np.ndarray, "tokens layers layers"] | None = None
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
        return self.facts.dim

    def check_layers(self) -> None:
        """Checks the bytes of all layers now and not before their first use. Raises TextError for a damaged one."""
        for layer in range(self.num_layers):
            self._layers[layer]

    def occurrences(self, word: str) -> Int[np.ndarray, " occurrences"]:
        """The tokens that are exactly this word, in the order of the text."""
        row = self._rows_of.get(word)
        return np.flatnonzero(self._token_words == row) if row is not None else np.zeros(0, dtype=np.int64)

    def place(self, token: int) -> tuple[int, int]:
        """(sentence, position) of a token."""
        sentence = int(np.searchsorted(self._starts, token, side="right")) - 1
        return sentence, int(token - self._starts[sentence])

    def vectors(self, tokens: Int[np.ndarray, " tokens"], layer: LayerOrWeights) -> Float[np.ndarray, "tokens dim"]:
        """Unit vectors of some tokens, as float32."""
        if not isinstance(layer, Layer):
            lengths = self._lengths[:, tokens]
            weights = self.checked_weights(layer)
            return unit(_sum(w * lengths[i, :, None] * self.vectors(tokens, i) for i, w in enumerate(weights)))
        layer = self._checked(layer)
        rows = self._token_words[tokens] if layer == 0 else tokens
        return np.asarray(self._layers[layer][rows], dtype=np.float32)

    def search(
        self,
        vector: Float[np.ndarray, " dim"],
        layer: LayerOrWeights,
        *,
        count: int = 10,
        word: str | None = None,
        forms: Collection[str] = (),
        which: Which = "any",
        not_sentence: tuple[str, ...] | None = None,
        center: bool = False,
    ) -> list[Hit]:
        """The nearest tokens by cosine, nearest first, at most one of a sentence; equal sentences count as one.

        `which`: "same": only occurrences of `word`; "other": only other words, each once: its nearest
            occurrence in a sentence without a nearer hit.
        `forms`: words that count as occurrences of `word` too, such as a noun's with its particles.
        `not_sentence`: the query's own sentence, which is left out wherever the text has it.
        With weights as `layer`, every token is compared by the weighted sum of its layers; `vector` must be such a sum.
        `center`: the cosine of the vectors without their mean over the index; `vector` must have its own length.
        Raises ConfigError for a layer that the index doesn't have, weights that don't fit its layers, a vector of
        another size, a `count` below 1, and another `which`.
        """
        require_value("which", which, Which)
        require_value("count", count, PositiveInt)
        vector = np.asarray(vector, dtype=np.float32)
        direction = self._direction(vector)
        rows = [row for one in {word or "", *forms} if (row := self._rows_of.get(one)) is not None]
        is_word = np.isin(self._token_words, rows)
        if which == "same" and not center:  # a few tokens: no need to read all vectors
            tokens = np.flatnonzero(is_word)
            cosines = self._few_cosines(tokens, layer, direction)
            return self._best(cosines, count, {not_sentence}, each_word_once=False, tokens=tokens)
        excluded = is_word if which == "other" else ~is_word if which == "same" else False
        compared = self._centered(vector, layer) if center else self._cosines(direction, layer)
        cosines = np.where(excluded, -np.inf, compared)
        return self._best(cosines, count, {not_sentence}, each_word_once=which == "other")

    def _few_cosines(
        self, tokens: Int[np.ndarray, " tokens"], layer: LayerOrWeights, direction: Float[np.ndarray, " dim"]
    ) -> Float[np.ndarray, " tokens"]:
        """Of some tokens. In layer 0 by word: occurrences that are equal there are so in the last bit."""
        if not isinstance(layer, Layer) or self._checked(layer) > 0:
            return self.vectors(tokens, layer) @ direction
        rows, row_of = np.unique(self._token_words[tokens], return_inverse=True)
        return (np.asarray(self._layers[0][rows], dtype=np.float32) @ direction)[row_of]

    def mean(self, layer: LayerOrWeights) -> Float[np.ndarray, " dim"]:
        """The mean of all tokens' vectors, as float32."""
        if not isinstance(layer, Layer):
            return _sum(weight * self.mean(i) for i, weight in enumerate(self.checked_weights(layer)))
        layer = self._checked(layer)
        if layer not in self._means:
            total = np.zeros(self.dim)
            for tokens in self._chunks():
                total += self._lengths[layer, tokens] @ self.vectors(tokens, layer)
            self._means[layer] = total.astype(np.float32) / np.float32(len(self))
        return self._means[layer]

    def _chunks(self) -> Iterator[Int[np.ndarray, " tokens"]]:
        """All tokens, so many at a time that their vectors fit into memory."""
        for start in range(0, len(self), _CHUNK_ROWS):
            yield np.arange(start, min(start + _CHUNK_ROWS, len(self)))

    def _cosines(self, direction: Float[np.ndarray, " dim"], layer: LayerOrWeights) -> Float[np.ndarray, " tokens"]:
        if isinstance(layer, Layer):
            return self._products(direction, self._checked(layer))
        return self._dots(direction, layer) / self._mixed_lengths(self.checked_weights(layer))

    def _centered(self, vector: Float[np.ndarray, " dim"], layer: LayerOrWeights) -> Float[np.ndarray, " tokens"]:
        """The cosine of each token's vector to `vector`, both without the mean m.

        It is (x - m) . d / |x - m| with d the direction of `vector` - m, and |x - m|^2 = |x|^2 - 2 x . m + |m|^2: two
        products with the stored vectors, and no copy of them.
        """
        mean = self.mean(layer)  # which refuses a layer that isn't there
        weights = np.eye(self.num_layers)[layer] if isinstance(layer, Layer) else self.checked_weights(layer)
        direction = self._direction(vector - mean)
        # Of the vectors as they are stored: their directions in half precision are not quite of length 1.
        squares = self._mixed_lengths(weights) ** 2 - 2 * self._dots(mean, layer) + mean @ mean
        products = self._dots(direction, layer) - mean @ direction
        return products / np.sqrt(np.maximum(squares, np.finfo(np.float32).tiny))

    def _dots(self, vector: Float[np.ndarray, " dim"], layer: LayerOrWeights) -> Float[np.ndarray, " tokens"]:
        """The product of each token's whole vector with `vector`."""
        weights = (
            {self._checked(layer): 1.0} if isinstance(layer, Layer) else dict(enumerate(self.checked_weights(layer)))
        )
        return _sum(weight * self._lengths[i] * self._products(vector, i) for i, weight in weights.items())

    def _direction(self, vector: Float[np.ndarray, " dim"]) -> Float[np.ndarray, " dim"]:
        length = float(np.linalg.norm(vector))
        fits = vector.shape == (self.dim,) and np.isfinite(length)
        require_setting(fits, "vector", vector, f"of {self.dim} finite numbers, from the model {self.facts.model}")
        return vector / (length or 1.0)

    def _mixed_lengths(self, weights: Float[np.ndarray, " layers"]) -> Float[np.ndarray, " tokens"]:
        """The length of each token's weighted sum, from the products of its layers, which no weight changes."""
        with self._lock:
            if self._products_of_layers is None:
                self._products_of_layers = self._own_products()
        squares = np.einsum("tij,i,j->t", self._products_of_layers, weights, weights)
        return np.sqrt(np.maximum(squares, np.finfo(np.float32).tiny))

    def _own_products(self) -> Float[np.ndarray, "tokens layers layers"]:
        found = np.empty((len(self), self.num_layers, self.num_layers), dtype=np.float32)
        for tokens in self._chunks():
            layers = np.stack([self.vectors(tokens, layer) for layer in range(self.num_layers)], axis=1)
            layers *= self._lengths[:, tokens].T[..., None]
            found[tokens] = layers @ layers.transpose(0, 2, 1)
        return found

    def _products(self, vector: Float[np.ndarray, " dim"], layer: int) -> Float[np.ndarray, " tokens"]:
        """The product of each token's unit vector with `vector`."""
        rows = self._loaded(layer)
        if rows is not None:
            found = rows @ vector
        else:
            stored, found = self._layers[layer], np.empty(len(self._layers[layer]), dtype=np.float32)
            for start in range(0, len(stored), _CHUNK_ROWS):
                found[start : start + _CHUNK_ROWS] = stored[start : start + _CHUNK_ROWS].astype(np.float32) @ vector
        return found[self._token_words] if layer == 0 else found  # layer 0 has one row per word

    def _loaded(self, layer: int) -> Float[np.ndarray, "rows dim"] | None:
        """The layer as float32 in memory, or None if all layers together would take too much."""
        if 4 * self._layers.num_values > MEMORY_BYTES:
            return None
        with self._lock:
            if layer not in self._in_memory:
                self._in_memory[layer] = self._layers[layer].astype(np.float32)
            return self._in_memory[layer]

    def _best(
        self,
        cosines: Float[np.ndarray, " tokens"],
        count: int,
        left_out: set[tuple[str, ...] | None],
        *,
        each_word_once: bool,
        tokens: Int[np.ndarray, " tokens"] | None = None,
    ) -> list[Hit]:
        """`tokens`: those that the cosines are of; None: all of the index."""
        hits: list[Hit] = []
        words: set[str] = set()
        for place in _descending(cosines, 8 * count):
            if len(hits) == count or not np.isfinite(cosines[place]):
                break
            sentence, position = self.place(int(place if tokens is None else tokens[place]))
            text = self.sentences[sentence]
            if text in left_out or (each_word_once and text[position] in words):
                continue
            words.add(text[position])
            left_out = left_out | {text}
            hits.append(Hit(float(cosines[place]), sentence, position, text))
        return hits

    def _checked(self, layer: Layer) -> int:
        require_value("layer", int(layer), Annotated[int, from_to(-self.num_layers, self.num_layers - 1)])
        return int(layer) % self.num_layers

    def checked_weights(self, weights: Sequence[float]) -> Float[np.ndarray, " layers"]:
        """Weights for its layers as float32. ConfigError for another number of them, NaN, and weights whose squares
        float32 can't hold."""
        with np.errstate(over="ignore"):  # what float32 can't hold is inf, which is refused
            found = np.asarray(weights, dtype=np.float32)
        fits = found.shape == (self.num_layers,) and 1e-9 < np.abs(found).max() < 1e9
        expected = f"{self.num_layers} finite numbers, one for each layer, the largest between 1e-9 and 1e9"
        require_setting(fits, "layer", list(weights), f"a layer's number, or {expected}")
        return found


def _sum(parts: Iterable[Float[np.ndarray, "*shape"]]) -> Float[np.ndarray, "*shape"]:
    return reduce(np.add, parts)


def _descending(cosines: Float[np.ndarray, " tokens"], first: int) -> Iterator[np.integer]:
    """Places from the highest value down: a few by partition, and more only if they are asked for."""
    is_given = np.isnan(cosines)  # never given, or this would not end
    size = max(1, first)
    while not is_given.all():
        size = min(size, len(cosines))
        # All that are as high as the last one, and equal values in the order of the text: no chance of the partition.
        least = np.partition(cosines, len(cosines) - size)[len(cosines) - size]
        top = np.flatnonzero((cosines >= least) & ~is_given)
        is_given[top] = True
        yield from top[np.lexsort((top, -cosines[top]))]
        size *= 16
